#!/usr/bin/env python3
"""The program as a user meets it: baselines, several formats at once, hostile names, terminals.

    formats_test.py PROGRAM

Needs nothing but Python. The last line says how many checks passed.
"""

import collections
import html.parser
import json
import os
import pathlib
import pty
import subprocess
import sys
import tempfile
import time
import xml.etree.ElementTree

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "support"))
import checks
import sample

FORMATS = ["text", "json", "sarif", "github", "gitlab", "junit", "html"]
PROGRAM = str(pathlib.Path(sys.argv[1]).resolve())


def run(folder, *arguments, **environment):
    return subprocess.run(
        [PROGRAM, "lint", *arguments],
        cwd=folder,
        stdin=subprocess.DEVNULL,
        capture_output=True,
        check=False,
        env={**os.environ, **environment},
    )


def on_terminal(folder, *arguments, delay=0, stderr=None, **environment):
    """What the program writes when its standard output and error are a terminal."""
    ours, theirs = pty.openpty()
    child = subprocess.Popen(
        [PROGRAM, "lint", *arguments],
        cwd=folder,
        stdin=subprocess.PIPE,
        stdout=theirs,
        stderr=stderr or theirs,
        env={**os.environ, "TERM": "xterm", **environment},
    )
    os.close(theirs)
    time.sleep(delay)
    child.stdin.close()
    output = b""
    try:
        while chunk := os.read(ours, 65536):
            output += chunk
    except OSError:  # Linux: the other end is closed
        pass
    os.close(ours)
    child.wait()
    return output


class Page(html.parser.HTMLParser):
    """Counts elements, and finds what a report must not hold: scripts, images, handlers."""

    KNOWN = {
        "html", "head", "meta", "title", "style", "body", "h1", "h2", "p", "b", "a", "br", "span", "pre", "ul", "li",
        "article", "table", "tr", "th", "td",
    }  # fmt: skip
    ATTRIBUTES = {"lang", "charset", "http-equiv", "content", "name", "class", "href"}
    VOID = {"meta", "br"}

    def __init__(self, text):
        super().__init__()
        self.counts, self.open, self.foreign = collections.Counter(), [], set()
        self.feed(text)

    def handle_starttag(self, tag, attrs):
        self.counts[tag] += 1
        self.foreign |= {tag} - self.KNOWN | {name for name, _ in attrs} - self.ATTRIBUTES
        if tag not in self.VOID:
            self.open.append(tag)

    def handle_endtag(self, tag):
        if self.open and self.open[-1] == tag:
            self.open.pop()
        else:
            self.foreign.add("/" + tag)


def check_outputs(folder):
    """Every format to a file of its own in one run, and the same bytes in every run."""
    wanted = [f"--format={name}={folder}/out.{name}" for name in FORMATS]
    seen = set()
    for i in range(10):
        result = run(folder, *wanted, f"--jobs={1 if i % 2 else 8}", "d")
        yield "findings give exit code 1, files take the output", (result.returncode, result.stdout) == (1, b"")
        seen.add(b"\0".join(pathlib.Path(folder, f"out.{name}").read_bytes() for name in FORMATS))
    yield "ten runs with one thread and with eight give the same bytes", len(seen) == 1
    for name in FORMATS:
        alone = run(folder, f"--format={name}", "d").stdout
        yield f"{name}: standard output holds what the file holds", alone == pathlib.Path(folder, f"out.{name}").read_bytes()
    count = len(json.loads(pathlib.Path(folder, "out.json").read_bytes())["findings"])
    suites = xml.etree.ElementTree.parse(f"{folder}/out.junit").getroot()
    tests = [t for s in suites for t in s if len(t) > 0]
    gitlab = json.loads(pathlib.Path(folder, "out.gitlab").read_bytes())
    github = pathlib.Path(folder, "out.github").read_bytes().splitlines()
    sarif = json.loads(pathlib.Path(folder, "out.sarif").read_bytes())
    page = Page(pathlib.Path(folder, "out.html").read_text("utf-8"))
    yield "html: an article for each finding", page.counts["article"] == count
    yield "html: every element that is opened is closed", page.open == []
    yield "html: nothing but text, and nothing that is fetched", page.foreign == set()
    yield "there is something to write", count >= 4 * len(sample.NAMES)
    yield "junit: a test for each finding", len(tests) == count
    yield "gitlab: an issue for each finding", len(gitlab) == count
    yield "gitlab: fingerprints are unique", len({i["fingerprint"] for i in gitlab}) == count
    yield "github: a line for each finding", len(github) == count and all(l.startswith(b"::") for l in github)
    yield "sarif: a result for each finding", len(sarif["runs"][0]["results"]) == count


def check_root(folder):
    """Services want paths below the root of the repository, wherever the program runs."""
    pathlib.Path(folder, ".git").mkdir()
    inside = pathlib.Path(folder, "d")
    gitlab = json.loads(run(inside, "--format=gitlab", "plain.yaml").stdout)
    yield "paths are relative to the repository", {i["location"]["path"] for i in gitlab} == {"d/plain.yaml"}
    sarif = json.loads(run("/", "--format=sarif", f"{folder}/d/plain.yaml").stdout)
    uri = sarif["runs"][0]["results"][0]["locations"][0]["physicalLocation"]["artifactLocation"]["uri"]
    yield "elsewhere they are absolute or relative to there", uri == f"{folder}/d/plain.yaml"[1:]
    pathlib.Path(folder, ".git").rmdir()


def findings(folder, *arguments):
    return json.loads(run(folder, "--format=json", *arguments).stdout)["findings"]


def check_baseline(folder):
    """What is known stays hidden when lines move and files are renamed; what is new is shown."""
    before = len(findings(folder, "d"))
    written = run(folder, "--write-baseline=known.json", "d")
    yield "writing a baseline is a success without findings", (written.returncode, written.stdout) == (0, b"")
    yield "with it nothing is left", run(folder, "--baseline=known.json", "d").returncode == 0
    moved = pathlib.Path(folder, "moved")
    moved.mkdir()
    for i, path in enumerate(sorted(pathlib.Path(folder, "d").iterdir())):
        target = moved / f"renamed-{i}.yaml"
        target.write_bytes(b"# inserted\n" * 20 + path.read_bytes())
    yield "twenty lines above and another name change nothing", findings(folder, "moved", "--baseline=known.json") == []
    yield "without it all are there", len(findings(folder, "moved")) == before
    changed = moved / "renamed-0.yaml"
    text = changed.read_bytes()
    chat = next(p for p in sorted(moved.iterdir()) if b"chat-0" in p.read_bytes())
    chat.write_bytes(chat.read_bytes().replace(b"--swap-space=16", b"--swap-space=32").replace(b"--disable-log-requests", b"--another-flag"))
    new = findings(folder, "moved", "--baseline=known.json")
    yield "a new flag is a new finding, a new value is none", ["another-flag" in f["message"] for f in new] == [True]
    shown = run(folder, "moved", "--baseline=known.json").stdout.decode()
    yield "what is gone is said", "baseline: no longer found: KVB401 kubernetes Pod/chat-0/vllm disable-log-requests\n" in shown
    yield "and does not change the exit code", run(folder, "d/clean.yaml", "--baseline=known.json").returncode == 0
    yield "a file that is no baseline is refused", run(folder, "d", "--baseline=d/plain.yaml").returncode == 2
    yield "a missing one is an error", run(folder, "d", "--baseline=missing.json").returncode == 3
    changed.write_bytes(text)


def check_terminal(folder):
    """Colours and progress are for terminals."""
    plain = run(folder, "d", CLICOLOR_FORCE="")
    yield "no escapes without a terminal", b"\x1b[" not in plain.stdout + plain.stderr and plain.stderr == b""
    yield "CLICOLOR_FORCE asks for them", b"\x1b[1;31merror" in run(folder, "d", CLICOLOR_FORCE="1").stdout
    yield "a terminal gets colours", b"\x1b[1;31merror" in on_terminal(folder, "d")
    yield "NO_COLOR refuses them", b"\x1b[" not in on_terminal(folder, "d", NO_COLOR="1")
    # Standard input that takes its time, between two files; long enough for a slow start as well.
    slow = ("d/plain.yaml", "-", "d/clean.yaml", "--jobs=1", "--select=KVB000")
    shown = on_terminal(folder, *slow, delay=2.5)
    yield "a long run shows how far it is", b"\r\x1b[Kkvbudget: 2 of 3 files\r\x1b[K" in shown
    yield "unless it is quiet", b" of 3 files" not in on_terminal(folder, *slow, "--quiet", delay=2.5)
    with tempfile.TemporaryFile() as errors:
        on_terminal(folder, *slow, delay=2.5, stderr=errors)
        yield "a stream that is no terminal gets nothing", errors.tell() == 0


def check_summary(folder):
    """--quiet and --statistics."""
    usual = run(folder, "d").stdout.decode()
    quiet = run(folder, "--quiet", "d").stdout.decode()
    yield "a summary ends the text", usual.splitlines()[-1].endswith(" files")
    yield "quiet text is the same without it", usual == quiet + usual.splitlines()[-1] + "\n"
    rows = [line.split() for line in run(folder, "--statistics", "--quiet", "d").stdout.decode()[len(quiet):].splitlines()]
    counts = {rule: int(count) for count, rule, _ in rows}
    listed = [f["rule"] for f in findings(folder, "d")]
    yield "statistics count the findings of each rule", counts == {rule: listed.count(rule) for rule in listed}
    yield "most first", [int(r[0]) for r in rows] == sorted((int(r[0]) for r in rows), reverse=True)


def main():
    for group in (check_outputs, check_root, check_baseline, check_terminal, check_summary):
        with tempfile.TemporaryDirectory() as folder:
            os.mkdir(os.path.join(folder, "d"))
            sample.fill(os.path.join(folder, "d"))
            checks.check_all(group(folder))
    checks.finish()


if __name__ == "__main__":
    main()
