#!/usr/bin/env python3
"""The examples of docs/ci.md, as the hosts would take them."""

import re

import yaml

import support
from support import ROOT, check

CHECKS = [
    ("GitHub", ["check-jsonschema", "--builtin-schema", "vendor.github-workflows"]),
    ("GitLab", ["check-jsonschema", "--builtin-schema", "vendor.gitlab-ci"]),
    ("pre-commit", ["pre-commit", "validate-config"]),
]


def test(folder):
    text = (ROOT / "docs/ci.md").read_text()
    for heading, tool in CHECKS:
        example = re.search(rf"^## {heading}$.*?^```yaml$(.*?)^```$", text, re.DOTALL | re.MULTILINE).group(1)
        path = folder / f"{heading}.yml"
        path.write_text(example)
        result = support.tool(*tool, path)
        check(f"{heading} takes the example", result.returncode == 0, result)
    steps = yaml.safe_load((folder / "GitHub.yml").read_text())["jobs"]["kvbudget"]["steps"]
    given = next(step["with"] for step in steps if "kvbudget@" in step.get("uses", ""))
    action = yaml.safe_load((ROOT / "action.yml").read_text())
    check("the action has the inputs of the example", given.keys() <= action["inputs"].keys(), given)
    template = yaml.safe_load((ROOT / "templates/kvbudget.gitlab-ci.yml").read_text())
    variables = yaml.safe_load((folder / "GitLab.yml").read_text())["variables"]
    check("the template has the variables of the example", variables.keys() <= template["variables"].keys())
    hooks = yaml.safe_load((ROOT / ".pre-commit-hooks.yaml").read_text())
    used = yaml.safe_load((folder / "pre-commit.yml").read_text())["repos"][0]["hooks"]
    check("the hooks of the example are there", {h["id"] for h in used} <= {h["id"] for h in hooks})


support.main(test)
