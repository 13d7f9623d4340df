"""`python -m kvbudget.vllm.check [PLAN]`: whether this installation can guard an engine.

Imports the engine's scheduler but starts nothing. Exits with 1 when something is missing.
"""

import importlib.metadata
import os
import sys

from kvbudget import _core
from kvbudget.vllm import contract, settings


def excluded_by(environment):
    """VLLM_PLUGINS names the plugins that are loaded, over all groups; ours may not be among them."""
    names = environment.get("VLLM_PLUGINS")
    return names is not None and "kvbudget" not in names.split(",")


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


def main(arguments=None):
    arguments = sys.argv[1:] if arguments is None else arguments
    print(f"kvbudget._core with C interface {_core.abi_version()}")
    found = _engine_problems()
    if not _is_registered():
        found.append("the entry point is not registered; install the package with pip")
    if excluded_by(os.environ):
        print(f"note: VLLM_PLUGINS={os.environ['VLLM_PLUGINS']} leaves the general plugin out; "
              "the scheduler works without it")
    for path in arguments:
        try:
            plan = settings.load_plan(path)
            print(f"{path}: {plan.get('model')}, {plan.get('usable_blocks')} usable blocks")
        except ValueError as error:
            found.append(str(error))
    for problem in found:
        print(f"problem: {problem}")
    print("ready" if not found else "not ready")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
