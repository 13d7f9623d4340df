#!/usr/bin/env python3
"""`kvbudget diff` over a repository that is made here, one change a commit.

    revisions_test.py PROGRAM

What diff says of two revisions must be what `estimate` and `lint` say in a checkout of each. The
test's last line says how many checks passed.
"""

import itertools
import json
import os
import pathlib
import re
import subprocess
import sys
import tempfile

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "support"))
import checks
from checks import check

PROGRAM = os.path.abspath(sys.argv[1])

LLAMA = """apiVersion: apps/v1
kind: Deployment
metadata: {name: llama}
spec:
  replicas: 1
  selector: {matchLabels: {app: llama}}
  template:
    metadata: {labels: {app: llama}}
    spec:
      nodeSelector: {cloud.google.com/gke-accelerator: nvidia-l4}
      containers:
        - name: vllm
          image: vllm/vllm-openai:v0.19.0
          args:
            - --model=meta-llama/Llama-3.1-8B-Instruct
            - --max-model-len=8192
          resources: {limits: {nvidia.com/gpu: 1}}
"""
CHAT = """services:
  chat:
    image: vllm/vllm-openai:v0.19.0
    command: [--model=Qwen/Qwen2.5-3B-Instruct, --max-model-len=16384]
"""
SCRIPT = "vllm serve org/tiny --config serve.vllm.yaml\n"
PROJECT = "engine: vllm@0.19.0\ngpu: L4\nmodels: [models]\n"
TINY = {
    "architectures": ["LlamaForCausalLM"],
    "model_type": "llama",
    "num_hidden_layers": 16,
    "hidden_size": 2048,
    "num_attention_heads": 16,
    "num_key_value_heads": 8,
    "intermediate_size": 8192,
    "vocab_size": 32000,
    "max_position_embeddings": 32768,
    "torch_dtype": "bfloat16",
}

def run(*words, cwd, program=PROGRAM, path=os.environ["PATH"]):
    env = {"HOME": str(cwd), "PATH": path, "GIT_CONFIG_GLOBAL": "/dev/null"}
    env |= {f"GIT_{who}_{key}": "t@example.org" for who in ("AUTHOR", "COMMITTER") for key in ("NAME", "EMAIL")}
    return subprocess.run([program, *words], cwd=cwd, env=env, capture_output=True, text=True, check=False)


def git(*words, cwd):
    result = run("-c", "protocol.file.allow=always", *words, cwd=cwd, program="git")
    if result.returncode != 0:
        raise RuntimeError(f"git {words}: {result.stderr}")
    return result.stdout.strip()


class Repository:
    def __init__(self, folder):
        self.folder = folder
        folder.mkdir()
        git("init", "-q", "-b", "main", cwd=folder)

    def write(self, path, text):
        target = self.folder / path
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_text(text)

    def replace(self, path, old, new):
        text = (self.folder / path).read_text()
        assert old in text, (path, old)
        self.write(path, text.replace(old, new))

    def commit(self, message):
        git("add", "-A", cwd=self.folder)
        git("commit", "-q", "-m", message, cwd=self.folder)
        return git("rev-parse", "HEAD", cwd=self.folder)

    def checkout(self, commit, target):
        git("worktree", "add", "-q", "--detach", str(target), commit, cwd=self.folder)


def judged(folder):
    """What `estimate` says of a folder, by kind and name, and the findings of `lint`."""
    estimates = json.loads(run("estimate", "--json", ".", cwd=folder).stdout)["estimates"]
    lint = json.loads(run("lint", "--json", ".", cwd=folder).stdout)
    names = [(one["kind"], one["name"]) for one in lint["deployments"]]
    assert len(names) == len(estimates) and len(set(names)) == len(names)
    findings = {name: [] for name in names}
    for finding in lint["findings"]:
        findings[names[finding.pop("deployment")]].append(finding)
    return dict(zip(names, estimates)), findings


def numbers(estimate):
    return {key: estimate[key] for key in ("terms", "kv_cache", "verdict")}


def change_llama(old, new):
    return lambda repo: repo.replace("deploy/llama.yaml", old, new)


def change_model(repo):
    repo.write("models/org/tiny/config.json", json.dumps(TINY | {"num_hidden_layers": 32}))


def move_and_turn_into_template(repo):
    repo.replace("apps/chat.yaml", "--max-model-len=16384", '"--max-model-len={{ .Values.len }}"')


def rename_folder(repo):
    git("mv", "deploy", "apps", cwd=repo.folder)


def add_and_remove(repo):
    repo.write("apps/llama.yaml", LLAMA.replace("{name: llama}", "{name: other}"))


def in_llama(old, new):
    return lambda repo: repo.replace("apps/llama.yaml", old, new)


# What each commit does, and the deployments in which something is different then.
STEPS = [
    ("a length", change_llama("=8192", "=16384"), {"Deployment/llama/vllm"}),
    ("only comments", change_llama("spec:\n  replicas", "# why\nspec:\n  replicas"), set()),
    ("a grace period",
     change_llama("      containers:", "      terminationGracePeriodSeconds: 90\n      containers:"), set()),
    ("a model", change_llama("Llama-3.1-8B", "Llama-3.2-3B"), {"Deployment/llama/vllm"}),
    ("a version", change_llama(":v0.19.0", ":v0.33.0"), {"Deployment/llama/vllm"}),
    ("a card", change_llama("nvidia-l4", "nvidia-h100-80gb"), {"Deployment/llama/vllm"}),
    ("a renamed folder", rename_folder, set()),
    ("a dtype", in_llama("- --max-model-len", "- --kv-cache-dtype=fp8\n            - --max-model-len"),
     {"Deployment/llama/vllm"}),
    ("a template", move_and_turn_into_template, {"service chat"}),
    ("the project's card", lambda repo: repo.replace(".kvbudget.yaml", "L4", "L40S"), {"script"}),
    ("a model's config", change_model, {"script"}),
    ("a config file", lambda repo: repo.replace("serve.vllm.yaml", "8192", "4096"), {"script"}),
    ("another deployment", add_and_remove, {"Deployment/llama/vllm", "Deployment/other/vllm"}),
]


def make_history(repo):
    repo.write("deploy/llama.yaml", LLAMA)
    repo.write("deploy/chat.yaml", CHAT)
    repo.write("serve.sh", SCRIPT)
    repo.write("serve.vllm.yaml", "max-model-len: 8192\n")
    repo.write(".kvbudget.yaml", PROJECT)
    repo.write("models/org/tiny/config.json", json.dumps(TINY))
    commits = [repo.commit("start")]
    for message, change, _ in STEPS:
        change(repo)
        commits.append(repo.commit(message))
    return commits


def diff(repo, *words, code=0):
    result = run("diff", *words, cwd=repo.folder)
    check(f"diff {words} ends with {code}", result.returncode == code, f"{result.returncode}: {result.stderr}")
    return result.stdout


def check_side(what, side, estimates, name):
    check(f"{what}: {name} is what estimate says", side == estimates.get(name), f"{side}")


def check_step(repo, what, commits, sides, expected):
    (before, old), (after, new) = sides
    report = json.loads(diff(repo, "--json", *commits))
    named = {one["name"] for one in report["deployments"]}
    check(f"{what}: the right deployments differ", named == expected, f"{named}")
    for one in report["deployments"]:
        name = (one["kind"], one["name"])
        check_side(what, one["base"], before, name)
        check_side(what, one["head"], after, name)
        for side, findings in (("gone", old), ("new", new)):
            rest = [f for f in one["findings"][side] if f not in findings.get(name, [])]
            check(f"{what}: {side} findings of {name} are what lint says", not rest, f"{rest}")
        known = {f["rule"] for f in old.get(name, [])}
        fresh = [f for f in new.get(name, []) if f["rule"] not in known]
        missed = [f for f in fresh if f not in one["findings"]["new"]]
        check(f"{what}: no new finding of {name} is missed", not missed, f"{missed}")
    for name in before.keys() & after.keys():
        if name[1] in named:
            continue
        same = numbers(before[name]) == numbers(after[name])
        check(f"{what}: {name} is the same on both sides", same)
    check(f"{what}: all are counted", report["summary"]["unchanged"] + len(named) == len(before.keys() | after.keys()))


def check_history(repo, commits, folder):
    sides = []
    for index, commit in enumerate(commits):
        target = folder / f"checkout-{index}"
        repo.checkout(commit, target)
        sides.append(judged(target))
    for index, (what, _, expected) in enumerate(STEPS):
        check_step(repo, what, commits[index : index + 2], sides[index : index + 2], expected)
    # Any two revisions, not only neighbours; and folders instead of revisions.
    for a, b in itertools.combinations(range(0, len(commits), 3), 2):
        report = json.loads(diff(repo, "--json", commits[a], commits[b]))
        for one in report["deployments"]:
            name = (one["kind"], one["name"])
            check_side(f"{a} to {b}", one["base"], sides[a][0], name)
            check_side(f"{a} to {b}", one["head"], sides[b][0], name)
        folders = [str(folder / f"checkout-{i}") for i in (a, b)]
        of_folders = json.loads(diff(repo, "--json", *folders))
        same = [o["figures"] for o in of_folders["deployments"]] == [o["figures"] for o in report["deployments"]]
        check(f"{a} to {b}: folders give what revisions give", same)


def check_formats(repo, commits):
    quiet = commits[1:3]
    check("comments alone: no text", diff(repo, *quiet) == "")
    check("comments alone: one line of Markdown", diff(repo, "--format", "markdown", *quiet).count("\n") == 1)
    one = json.loads(diff(repo, "--json", *commits[:2]))["deployments"][0]
    text = diff(repo, *commits[:2])
    markdown = diff(repo, "--format", "markdown", *commits[:2])
    check("the setting is named", "max-model-len: 8192 -> 16384" in text, text)
    check("and in Markdown", "max-model-len `8192` → `16384`" in markdown, markdown)
    figures = {figure["name"]: figure for figure in one["figures"]}
    falls = re.search(r"concurrency at max-model-len falls from ([\d.]+) to ([\d.]+) ", markdown)
    shown = [float(number) for number in falls.groups()] if falls else []
    true = [figures["max_concurrency"][side] for side in ("base", "head")]
    near = [abs(a - b) < 0.06 for a, b in zip(shown, true)]  # tenths of what was rounded to hundredths
    check("what gets less is a sentence", near == [True, True], markdown)
    check("ids of commits are cut short", commits[0][:12] in markdown and commits[0] not in markdown, markdown)


def check_losses(repo, commits):
    length, dtype, template = commits[:2], commits[7:9], commits[8:10]
    diff(repo, *length)
    diff(repo, "--fail-on-loss", "10%", *length, code=1)
    diff(repo, "--fail-on-loss", "60%", *length)
    diff(repo, "--fail-on-loss", "10%", *reversed(length))
    diff(repo, "--fail-on-loss", "10%", *dtype)
    check("a loss is named", "loss: KV tokens" in diff(repo, "--fail-on-loss", "10%", *reversed(dtype), code=1))
    lost = diff(repo, "--fail-on-loss", "100%", *template, code=1)
    check("what cannot be judged any more is a loss", "the verdict gets worse" in lost, lost)
    diff(repo, "--fail-on-loss", "much", *length, code=2)
    diff(repo, "--fail-on", "info", *template, code=1)
    diff(repo, "--fail-on", "error", *template)


def check_ranges(repo, commits):
    expected = diff(repo, "--json", commits[0], commits[-1])
    git("branch", "side", commits[0], cwd=repo.folder)
    git("checkout", "-q", "side", cwd=repo.folder)
    repo.replace("serve.sh", "org/tiny", "org/tiny --max-num-seqs 8")
    repo.commit("on the side")
    git("checkout", "-q", "main", cwd=repo.folder)
    merged = json.loads(diff(repo, "--json", "side...main"))
    check("three dots start where the two parted", merged["deployments"] == json.loads(expected)["deployments"])
    straight = json.loads(diff(repo, "--json", "side..main"))
    check("two dots do not", straight["base"]["commit"] != merged["base"]["commit"])


def check_working_tree(repo):
    check("a clean tree says nothing", diff(repo, "HEAD") == "")
    repo.write("new/own.yaml", LLAMA.replace("{name: llama}", "{name: untracked}"))
    check("a file that is not committed counts", "added: new/own.yaml" in diff(repo, "HEAD"))
    check("paths behind -- choose", diff(repo, "HEAD", "--", "apps") == "")
    check("a path of one side is enough", "untracked" in diff(repo, "HEAD", "--", "new"))
    diff(repo, "HEAD", "--", "nowhere", code=3)
    below = run("diff", "HEAD", cwd=repo.folder / "apps")
    check("the current folder is where it looks", below.returncode == 0 and below.stdout == "", below.stderr)
    (repo.folder / "new/own.yaml").unlink()


def check_odd_files(repo):
    """Links, names with spaces and line breaks, repositories inside the repository."""
    before = git("rev-parse", "HEAD", cwd=repo.folder)
    repo.write("odd/with space\nand \"quotes\".yaml", LLAMA.replace("{name: llama}", "{name: odd}"))
    os.symlink("with space\nand \"quotes\".yaml", repo.folder / "odd/link.yaml")
    os.symlink("../apps", repo.folder / "odd/folder")
    os.symlink("nowhere.yaml", repo.folder / "odd/broken.yaml")
    repo.write("odd/run.sh", "vllm serve linked/model --gpu-memory-utilization 0.8\n")
    os.symlink("../odd/models", repo.folder / "apps/models")
    repo.write("odd/.kvbudget.yaml", "gpu: L4\nmodels: [../apps/models]\n")
    repo.write("odd/models/linked/model/config.json", json.dumps(TINY))
    inner = Repository(repo.folder.parent / "inner")
    inner.write("inner.yaml", LLAMA.replace("{name: llama}", "{name: inner}"))
    inner.commit("inner")
    git("submodule", "add", "-q", str(inner.folder), "sub", cwd=repo.folder)
    after = repo.commit("odd")
    report = json.loads(diff(repo, "--json", before, after))
    names = sorted(one["name"] for one in report["deployments"])
    check("links are followed to files, not to folders", names == ["Deployment/odd/vllm"] * 2 + ["script"], f"{names}")
    judged_by_link = [one["head"]["kv_cache"] is not None for one in report["deployments"] if one["name"] == "script"]
    check("a model behind a link to a folder is found", judged_by_link == [True])
    tree = diff(repo, "--json", before)
    check("the working tree is read in the same way", json.loads(tree)["deployments"] == report["deployments"])


def check_errors(repo, folder):
    said = run("diff", "no-such-revision", cwd=repo.folder)
    check("an unknown revision is named", said.returncode == 3 and "no revision 'no-such-revision'" in said.stderr)
    said = run("diff", "main", cwd=folder)
    check("no repository is said", said.returncode == 3 and "not a git repository" in said.stderr, said.stderr)
    said = run("diff", "main", cwd=repo.folder, path="/nowhere")
    check("a missing git is said", said.returncode == 3 and "cannot run git" in said.stderr, said.stderr)
    said = run("diff", cwd=repo.folder)
    check("one argument at least", said.returncode == 2)
    for word in ("--output=x", "-x"):
        said = run("diff", "HEAD", "--", word, cwd=repo.folder)
        check("no word becomes an option of git", said.returncode == 3 and word in said.stderr, said.stderr)
    shallow = folder / "shallow"
    git("clone", "-q", "--depth=1", f"file://{repo.folder}", str(shallow), cwd=folder)
    said = run("diff", "HEAD~1", cwd=shallow)
    check("a shallow clone is said", said.returncode == 3 and "shallow" in said.stderr, said.stderr)
    said = run("diff", "side", cwd=shallow)
    clone = folder / "clone"
    git("clone", "-q", str(repo.folder), str(clone), cwd=folder)
    said = run("diff", "side", cwd=clone)
    check("the remote's branch is proposed", "did you mean 'origin/side'" in said.stderr, said.stderr)
    said = run("diff", "HEAD", "HEAD", "--format", "sarif", cwd=repo.folder)
    check("formats are checked", said.returncode == 2 and "markdown" in said.stderr, said.stderr)
    repo.write(".kvbudget.yaml", "engin: vllm@0.19.0\n")
    said = run("diff", "HEAD", cwd=repo.folder)
    check("a wrong project file is wrong usage", said.returncode == 2 and "engin" in said.stderr, said.stderr)
    git("checkout", "-q", ".kvbudget.yaml", cwd=repo.folder)


def main():
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name).resolve()
        repo = Repository(folder / "repo")
        commits = make_history(repo)
        check_history(repo, commits, folder)
        check_formats(repo, commits)
        check_losses(repo, commits)
        check_ranges(repo, commits)
        check_working_tree(repo)
        check_odd_files(repo)
        check_errors(repo, folder)
    checks.finish()


if __name__ == "__main__":
    main()
