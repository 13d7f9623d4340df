#!/usr/bin/env python3
"""The template for GitLab CI: its schema, and its script lines in a merge request of our own."""

import json

import yaml

import support
from support import ROOT, TOO_LONG, check

TEMPLATE = ROOT / "templates/kvbudget.gitlab-ci.yml"


def job(template, name, folder, path, variables):
    """The script of a job, line by line in one shell that stops at the first failure."""
    env = template["variables"] | {"PATH": path} | variables
    script = "set -e\n" + "\n".join(template[name]["script"])
    return support.run(["sh", "-c", script], folder / "work", env)


def test(folder):
    schema = support.tool("check-jsonschema", "--builtin-schema", "vendor.gitlab-ci", TEMPLATE)
    check("the template fits GitLab's schema", schema.returncode == 0, schema.stdout)
    template = yaml.safe_load(TEMPLATE.read_text())
    path = support.folder_with_program(folder)
    work = folder / "work"
    work.mkdir()
    base = support.make_repository(work)

    good = job(template, "kvbudget-lint", folder, path, {})
    check("a deployment that starts passes", good.returncode == 0, good)
    (work / "deploy/llama.yaml").write_text(TOO_LONG)
    support.commit(work)
    bad = job(template, "kvbudget-lint", folder, path, {})
    check("one that does not fails", bad.returncode == 1 and "KVB103" in bad.stdout, bad)
    report = template["kvbudget-lint"]["artifacts"]["reports"]["codequality"]
    issues = json.loads((work / report).read_text())
    check("the report holds the finding", [i["check_name"].split()[0] for i in issues] == ["KVB103"], issues)
    (work / report).unlink()

    merge_request = {"CI_MERGE_REQUEST_DIFF_BASE_SHA": base}
    shown = job(template, "kvbudget-diff", folder, path, merge_request)
    check("the change is shown", shown.returncode == 0 and "starts -> refuses" in shown.stdout, shown)
    comment = (work / template["kvbudget-diff"]["artifacts"]["paths"][0]).read_text()
    check("and kept as Markdown", "starts → refuses" in comment, comment)
    lost = job(template, "kvbudget-diff", folder, path, merge_request | {"KVBUDGET_FAIL_ON_LOSS": "10%"})
    check("a loss fails where that is asked for", lost.returncode == 1, lost)

    shallow = folder / "shallow"
    support.git("clone", "-q", "--depth=1", f"file://{work}", str(shallow), cwd=folder)
    support.git("config", "uploadpack.allowAnySHA1InWant", "true", cwd=work)
    (folder / "work").rename(folder / "origin")
    support.git("remote", "set-url", "origin", f"file://{folder / 'origin'}", cwd=shallow)
    shallow.rename(folder / "work")
    fetched = job(template, "kvbudget-diff", folder, path, merge_request)
    check("a shallow clone fetches the base", fetched.returncode == 0 and "refuses" in fetched.stdout, fetched)


support.main(test)
