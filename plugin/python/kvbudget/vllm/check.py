"""`python -m kvbudget.vllm.check [PLAN] [-- VLLM ARGUMENTS]`: whether this installation can guard an engine,
and whether an engine that is started so is guarded.

Imports the engine's scheduler but starts nothing. Exits with 0 when all is well, 1 when something is
missing or wrong, and 2 for a call that is not understood.
"""

import importlib.metadata
import os
import sys

from kvbudget import _core
from kvbudget.vllm import arguments, contract, settings

USAGE = "python -m kvbudget.vllm.check [PLAN] [-- VLLM ARGUMENTS]"


def _is_registered():
    points = importlib.metadata.entry_points(group="vllm.general_plugins")
    return any(point.value == "kvbudget.vllm:register" for point in points)


def _engine_problems():
    try:
        from vllm import __version__
        from vllm.v1.core.sched.async_scheduler import AsyncScheduler
        from vllm.v1.core.sched.scheduler import Scheduler
    except ImportError as error:
        return [f"vLLM cannot be imported: {error}"]
    print(f"vLLM {__version__}")
    problem = contract.version_problem(__version__)
    found = [problem] if problem else []
    for scheduler in (Scheduler, AsyncScheduler):
        found += contract.interface_problems(scheduler)
    return found


def _plan_problems(paths):
    """(the last plan, what is wrong with any)."""
    plan, found = None, []
    for path in paths:
        try:
            plan = settings.load_plan(path)
            print(f"{path}: {plan.get('model')}, {plan.get('usable_blocks')} usable blocks")
        except ValueError as error:
            found.append(str(error))
    return plan, found


def _installation_problems():
    print(f"kvbudget._core with C interface {_core.abi_version()}")
    found = _engine_problems()
    if not _is_registered():
        found.append("the entry point is not registered; install the package with pip")
    if contract.excluded_by(os.environ):
        print(f"note: VLLM_PLUGINS={os.environ['VLLM_PLUGINS']} leaves kvbudget out: no metrics, no HTTP "
              "400 and no attention of ours; the scheduler works without")
    return found


def main(words=None):
    words = sys.argv[1:] if words is None else words
    at = words.index("--") if "--" in words else len(words)
    paths, command = words[:at], words[at + 1 :]
    if any(path.startswith("-") for path in paths):
        print(f"usage: {USAGE}")
        return 2
    plan, found = _plan_problems(paths)
    found += _installation_problems()
    if command:
        found += arguments.problems(command, plan)
        for note in arguments.notes(command):
            print(f"note: {note}")
    for problem in found:
        print(f"problem: {problem}")
    print("ready" if not found else "not ready")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
