"""Counts the checks of a test that is a program: each that fails is printed, and the last line says
how many passed. A test with no checks at all has failed."""

import sys

_results = []


def check(what, passed, detail=""):
    _results.append(bool(passed))
    if not passed:
        print("FAILED:", what, detail)


def check_all(results):
    """Of pairs (what, passed)."""
    for what, passed in results:
        check(what, passed)


def finish():
    print(f"{sum(_results)} of {len(_results)} checks passed")
    sys.exit(0 if _results and all(_results) else 1)
