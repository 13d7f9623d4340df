#!/usr/bin/env python3
"""pre-commit with this checkout as the repository of the hooks."""

import re
import sys

import yaml

import support
from support import GOOD, ROOT, TOO_LONG, check


def hook(folder, name, env=None):
    words = [support.TOOLS / "pre-commit", "try-repo", ROOT, name, "--all-files", "--verbose"]
    home = {"PRE_COMMIT_HOME": str(folder / "cache")}
    return support.run(words, folder / "work", home | (env or {}))


def check_hook(folder, name, env=None):
    work = folder / "work"
    (work / "deploy/llama.yaml").write_text(GOOD)
    result = hook(folder, name, env)
    check(f"{name}: a deployment that starts passes", result.returncode == 0 and "Passed" in result.stdout, result)
    (work / "deploy/llama.yaml").write_text(TOO_LONG)
    result = hook(folder, name, env)
    failed = result.returncode == 1 and "Failed" in result.stdout and "[KVB103]" in result.stdout
    check(f"{name}: one that does not fails with the finding", failed, result)


def check_pattern():
    """The hook looks when a file changes that a walk over folders would read."""
    import yaml

    hooks = yaml.safe_load((ROOT / ".pre-commit-hooks.yaml").read_text())
    table = re.search(r"kCandidates\[\] = \{(.*?)\};", (ROOT / "lint/walk.cc").read_text(), re.DOTALL).group(1)
    names = re.findall(r'\{"([^"]*)", "([^"]*)"', table)
    for one in hooks:
        missed = [p + "x" + s for p, s in names if not re.search(one["files"], f"deploy/{p}x{s}")]
        check(f"{one['id']}: every kind of file that is read wakes the hook", names and not missed, missed)
        check(f"{one['id']}: others do not", not re.search(one["files"], "README.md"))


def test(folder):
    if not (ROOT / ".git").exists():
        print("skipped: the sources are no git repository")
        sys.exit(support.SKIPPED)
    validated = support.tool("pre-commit", "validate-manifest", ".pre-commit-hooks.yaml")
    check("the manifest is valid", validated.returncode == 0, validated.stdout)
    (folder / "work").mkdir()
    support.make_repository(folder / "work")
    check_hook(folder, "kvbudget")
    check_hook(folder, "kvbudget-system", {"PATH": support.folder_with_program(folder)})
    check_pattern()


support.main(test)
