#!/usr/bin/env python3
"""Files a second of `kvbudget lint`, beside what reading and parsing them costs others.

    lint_bench.py PROGRAM FOLDER...

Fills a temporary folder with 2,000 files, the deployment files of FOLDERs again and again, and times
over it: the program, `cat`, and PyYAML's C loader (YAML and JSON only; templates do not parse and
are counted as read). Each runs in turn, five times; the medians are compared, since machines are
noisy.
"""

import pathlib
import statistics
import subprocess
import sys
import tempfile
import time

FILES = 2000
ROUNDS = 5
PYYAML = """
import pathlib, sys, yaml
for path in pathlib.Path(sys.argv[1]).rglob("*"):
    if path.suffix not in (".yaml", ".yml", ".json"):
        continue
    try:
        list(yaml.load_all(path.read_bytes(), Loader=yaml.CSafeLoader))
    except (yaml.YAMLError, ValueError):
        pass
"""


def deployment_files(folders):
    """Every file below the folders that a walk of the linter would open."""
    names = (".yaml", ".yml", ".json", ".sh", ".tpl", ".j2", ".service", ".tf")
    paths = [p for f in folders for p in sorted(pathlib.Path(f).rglob("*")) if p.is_file()]
    return [p for p in paths if p.name.endswith(names) or p.name.startswith("Dockerfile")]


def fill(folder, sources):
    for i in range(FILES):
        source = sources[i % len(sources)]
        target = folder / str(i // 100) / f"{i}-{source.name}"
        target.parent.mkdir(exist_ok=True)
        target.write_bytes(source.read_bytes())


def seconds(command):
    start = time.perf_counter()
    subprocess.run(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, check=False)
    return time.perf_counter() - start


def main():
    program, folders = sys.argv[1], sys.argv[2:]
    sources = deployment_files(folders)
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        fill(folder, sources)
        commands = {
            "kvbudget lint": [program, "lint", name],
            "kvbudget lint --jobs 1": [program, "lint", "--jobs", "1", name],
            "cat": ["sh", "-c", f"find {name} -type f -exec cat {{}} +"],
            "PyYAML (C)": [sys.executable, "-c", PYYAML, name],
        }
        times = {what: [] for what in commands}
        for _ in range(ROUNDS):
            for what, command in commands.items():
                times[what].append(seconds(command))
    print(f"{FILES} files made of {len(sources)}; median of {ROUNDS} runs")
    for what, values in times.items():
        middle = statistics.median(values)
        print(f"  {what:24} {middle:7.3f} s {FILES / middle:9,.0f} files/s")


if __name__ == "__main__":
    main()
