#!/usr/bin/env python3
"""A Python environment with the programs of others that a test needs.

    in_environment.py FOLDER REQUIREMENTS [SCRIPT ARGUMENT...]

Makes it, and runs the script in it. Exits with 77, which ctest calls skipped, where the packages
cannot be had; with 1 where $CI says that they must be.
"""

import os
import pathlib
import subprocess
import sys
import venv

SKIPPED = 77


def prepare(folder, requirements):
    """What went wrong, or nothing."""
    wanted = requirements.read_text()
    stamp = folder / "requirements.txt"
    if stamp.exists() and stamp.read_text() == wanted:
        return None
    try:
        venv.create(folder, clear=True, with_pip=True)
        command = [folder / "bin/python", "-m", "pip", "install", "--quiet", "--no-deps"]
        subprocess.run([*command, "--requirement", requirements], check=True, timeout=600)
    except (OSError, subprocess.SubprocessError) as error:
        return error
    stamp.write_text(wanted)
    return None


def main():
    folder, requirements = map(pathlib.Path, sys.argv[1:3])
    error = prepare(folder, requirements)
    if error:
        required = os.environ.get("CI")
        print(f"{'failed' if required else 'skipped'}: the packages of {requirements.parent.name}/ cannot be had: {error}")
        return 1 if required else SKIPPED
    if len(sys.argv) == 3:
        return 0
    return subprocess.run([folder / "bin/python", *sys.argv[3:]], check=False).returncode


if __name__ == "__main__":
    sys.exit(main())
