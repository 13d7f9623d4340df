#!/usr/bin/env python3
"""The GitHub Action: its schema, and its steps in a job of our own.

Only what action.yml uses of a runner is rebuilt here: expressions over inputs and outputs of steps,
the files behind GITHUB_OUTPUT and GITHUB_STEP_SUMMARY, and bash as the runner starts it.
"""

import json
import os
import re

import yaml

import support
from support import GOOD, ROOT, TOO_LONG, check

ACTION = yaml.safe_load((ROOT / "action.yml").read_text())


class Job:
    """One use of the action in a checkout."""

    def __init__(self, folder, work, given):
        self.work = work
        self.temp = folder
        self.values = {f"inputs.{name}": one["default"] for name, one in ACTION["inputs"].items()}
        self.values |= {f"inputs.{name}": value for name, value in given.items()}
        self.summary = folder / "summary.md"
        self.summary.write_text("")
        self.log = ""
        self.code = 0
        for step in ACTION["runs"]["steps"]:
            if self.code == 0:
                self.run(step)

    def evaluate(self, text):
        return re.sub(r"\$\{\{\s*([\w.-]+)\s*\}\}", lambda match: self.values.get(match.group(1), ""), text)

    def run(self, step):
        assert step["shell"] == "bash" and "${{" not in step["run"], "scripts get what users give as variables"
        output = self.temp / "output"
        output.write_text("")
        env = {name: self.evaluate(value) for name, value in step.get("env", {}).items()}
        env |= {"GITHUB_ACTION_PATH": str(ROOT), "GITHUB_OUTPUT": str(output), "RUNNER_TEMP": str(self.temp)}
        env |= {"GITHUB_STEP_SUMMARY": str(self.summary)}
        words = ["bash", "--noprofile", "--norc", "-eo", "pipefail", "-c", step["run"]]
        result = support.run(words, self.work, env)
        self.log += result.stdout + result.stderr
        self.code = result.returncode
        for line in output.read_text().splitlines():
            name, value = line.split("=", 1)
            self.values[f"steps.{step.get('id')}.outputs.{name}"] = value

    def output(self, name):
        return self.evaluate(ACTION["outputs"][name]["value"])


def check_lint(folder, work):
    good = Job(folder, work, {})
    check("a deployment that starts passes", good.code == 0, good.log)
    check("without a base nothing is compared", good.output("diff") == "" and not good.summary.read_text())
    (work / "deploy/llama.yaml").write_text(TOO_LONG)
    bad = Job(folder, work, {})
    check("one that does not fails", bad.code == 1 and "KVB103" in bad.log, bad.log)
    check("findings are annotations", "::error file=deploy/llama.yaml,line=" in bad.log, bad.log)
    sarif = Job(folder, work, {"format": "sarif"})
    report = json.loads(open(sarif.output("report")).read())
    rules = {result["ruleId"] for run in report["runs"] for result in run["results"]}
    check("a report goes to a file", sarif.code == 1 and "KVB103" in rules, rules)
    wrong = Job(folder, work, {"format": "srif"})
    check("a wrong format is wrong usage", wrong.code == 2 and "sarif" in wrong.log, wrong.log)


def check_inputs(folder, work):
    (work / "with space").mkdir()
    (work / "with space/llama.yaml").write_text(GOOD)
    paths = Job(folder, work, {"paths": "with space\n\n"})
    check("paths stand on lines of their own", paths.code == 0, paths.log)
    args = Job(folder, work, {"args": "--gpu H100-80GB\n--ignore KVB410"})
    check("options are split into words", args.code == 0, args.log)
    hostile = "x; touch broken; $(touch broken) `touch broken`"
    for name in ("paths", "args", "format", "fail-on", "diff-base", "fail-on-loss"):
        result = Job(folder, work, {name: hostile} | ({"diff-base": "HEAD"} if name == "fail-on-loss" else {}))
        check(f"nothing in {name} is run", result.code > 0 and not list(work.glob("**/broken")), result.log)


def check_diff(folder, work, base):
    shown = Job(folder, work, {"diff-base": base, "fail-on": "error"})
    check("lint's result stands beside the comparison", shown.code == 1, shown.log)
    summary = shown.summary.read_text()
    check("the summary says what the change does", "starts → refuses" in summary, summary)
    check("and so does the file", open(shown.output("diff")).read() == summary)
    (work / "deploy/llama.yaml").write_text(GOOD.replace("=16384", "=8192"))
    better = Job(folder, work, {"diff-base": base, "fail-on-loss": "10%"})
    check("a gain passes", better.code == 0, better.log)
    (work / "deploy/llama.yaml").write_text(GOOD.replace("nvidia-l4", "nvidia-tesla-t4"))
    worse = Job(folder, work, {"diff-base": base, "fail-on-loss": "10%", "args": "--select KVB000"})  # lint is content
    check("a loss fails", worse.code == 1 and "loss: the verdict gets worse" in worse.log, worse.log)
    unknown = Job(folder, work, {"diff-base": "no-such"})
    check("an unknown base is said", unknown.code == 3 and "no revision 'no-such'" in unknown.log, unknown.log)


def check_scripts(folder):
    for step in ACTION["runs"]["steps"]:
        script = folder / "step.sh"
        script.write_text("#!/usr/bin/env bash\n" + step["run"])
        result = support.tool("shellcheck", script)
        check(f"shellcheck has nothing to say about '{step['name']}'", result.returncode == 0, result.stdout)


def test(folder):
    schema = support.tool("check-jsonschema", "--builtin-schema", "vendor.github-actions", "action.yml")
    check("the action fits GitHub's schema", schema.returncode == 0, schema.stdout)
    work = folder / "work"
    os.mkdir(work)
    base = support.make_repository(work)
    check_scripts(folder)
    check_lint(folder, work)
    check_diff(folder, work, base)
    (work / "deploy/llama.yaml").write_text(GOOD)
    check_inputs(folder, work)


support.main(test)
