"""What the tests of the integrations share: the hosts' tools, a repository with a deployment, the
count of checks. Each runs in the environment of requirements.txt:

    in_environment.py FOLDER REQUIREMENTS HOST_test.py PROGRAM
"""

import os
import pathlib
import subprocess
import sys
import tempfile

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "support"))
import checks
from checks import check

ROOT = pathlib.Path(__file__).resolve().parents[2]
PROGRAM = os.path.abspath(sys.argv[1])
TOOLS = pathlib.Path(sys.prefix) / "bin"
SKIPPED = 77

GOOD = (ROOT / "fixtures/deployments/ok/llama-8b-on-l4.yaml").read_text()
TOO_LONG = GOOD.replace("--max-model-len=16384", "--max-model-len=131072")
assert TOO_LONG != GOOD

def tool(*words, cwd=ROOT):
    return run([TOOLS / words[0], *words[1:]], cwd=cwd)


def run(words, cwd, env=None):
    """In an environment that holds nothing of the developer's but the way to programs."""
    own = {"HOME": str(cwd), "PATH": os.environ["PATH"], "KVBUDGET": PROGRAM, "GIT_CONFIG_GLOBAL": "/dev/null"}
    own |= {f"GIT_{who}_{key}": "t@example.org" for who in ("AUTHOR", "COMMITTER") for key in ("NAME", "EMAIL")}
    return subprocess.run(
        words, cwd=cwd, env=own | (env or {}), capture_output=True, text=True, check=False, stdin=subprocess.DEVNULL
    )


def git(*words, cwd):
    result = run(["git", *words], cwd)
    if result.returncode != 0:
        raise RuntimeError(f"git {words}: {result.stderr}")
    return result.stdout.strip()


def commit(folder, message="change"):
    git("add", "-A", cwd=folder)
    git("commit", "-q", "-m", message, cwd=folder)
    return git("rev-parse", "HEAD", cwd=folder)


def make_repository(folder):
    """A repository whose only deployment starts."""
    git("init", "-q", "-b", "main", ".", cwd=folder)
    (folder / "deploy").mkdir()
    (folder / "deploy/llama.yaml").write_text(GOOD)
    return commit(folder)


def folder_with_program(folder):
    """A folder for $PATH that holds the program under its own name."""
    target = folder / "bin"
    target.mkdir()
    (target / "kvbudget").symlink_to(PROGRAM)
    return f"{target}:{os.environ['PATH']}"


def main(test):
    with tempfile.TemporaryDirectory() as name:
        test(pathlib.Path(name).resolve())
    checks.finish()
