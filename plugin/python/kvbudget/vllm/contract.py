"""What of the engine's scheduler the plugin builds on, checked before anything is started.

The scheduler is no public interface of vLLM: it changes without notice. So the plugin overrides
methods of `vllm/v1/core/sched/interface.py` alone, passes arguments through, and refuses an engine
in which one of them is missing or a release that it was not tried with.
"""

import inspect
import os

FIRST, LAST = (0, 24), (0, 33)

# Method: the parameters that it must take by name.
METHODS = {
    "__init__": ("vllm_config", "kv_cache_config"),
    "add_request": ("request",),
    "schedule": (),
    "update_from_output": (),
    "finish_requests": ("request_ids", "finished_status"),
    "get_request_counts": (),
    "get_num_unfinished_requests": (),
    "has_finished_requests": (),
    "make_stats": (),
    "shutdown": (),
}


def excluded_by(environment):
    """VLLM_PLUGINS names the plugins that are loaded, over all groups; ours may not be among them."""
    names = environment.get("VLLM_PLUGINS")
    return names is not None and "kvbudget" not in names.split(",")


def release_of(version):
    parts = version.split("+")[0].split(".")
    try:
        return int(parts[0]), int(parts[1])
    except (IndexError, ValueError):
        return None


def version_problem(version, environment=os.environ):
    """Why the release is refused, or nothing."""
    release = release_of(version)
    if release is not None and FIRST <= release <= LAST:
        return None
    if environment.get("KVBUDGET_ALLOW_UNTESTED") == "1":
        return None
    tried = f"{FIRST[0]}.{FIRST[1]} to {LAST[0]}.{LAST[1]}"
    return (
        f"vLLM {version} is not among the releases that kvbudget knows ({tried}); "
        "KVBUDGET_ALLOW_UNTESTED=1 starts it all the same"
    )


def interface_problems(scheduler):
    """What the scheduler's class lacks, a sentence each."""
    found = []
    for name, parameters in METHODS.items():
        method = getattr(scheduler, name, None)
        if not callable(method):
            found.append(f"{scheduler.__name__} has no method {name}")
            continue
        known = inspect.signature(method).parameters
        takes_any = any(p.kind is p.VAR_KEYWORD for p in known.values())
        for parameter in parameters:
            if parameter not in known and not takes_any:
                found.append(f"{scheduler.__name__}.{name} takes no {parameter}")
    return found


def require(version, scheduler):
    problem = version_problem(version)
    found = ([problem] if problem else []) + interface_problems(scheduler)
    if found:
        raise RuntimeError("kvbudget cannot guard this engine: " + "; ".join(found))
