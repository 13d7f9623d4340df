"""Builds the package as `pip install .` does, into this environment, and runs its tests.

    run.py REPOSITORY
"""

import pathlib
import subprocess
import sys
import unittest

HERE = pathlib.Path(__file__).parent


def install(repository):
    """Without GPU code, which takes minutes to compile and runs nowhere here."""
    subprocess.run(
        [sys.executable, "-m", "pip", "install", "--quiet", "--no-deps", "--no-index"]
        + ["--config-settings=cmake.define.CMAKE_CUDA_COMPILER=NOTFOUND"]
        + ["--no-build-isolation", "--force-reinstall", repository],
        check=True,
    )


if __name__ == "__main__":
    install(sys.argv[1])
    sys.path.insert(0, str(HERE))
    tests = unittest.defaultTestLoader.discover(str(HERE), "*_test.py")
    sys.exit(not unittest.TextTestRunner().run(tests).wasSuccessful())
