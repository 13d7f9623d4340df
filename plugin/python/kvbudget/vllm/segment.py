"""Names of the shared-memory segments with the ledger's figures, and what they say.

One segment for each data-parallel rank, written by the engine's process and read by the API servers.
Without a name in the setting both ends derive one from the process that started the engine: the
API server itself, or the launcher of several (vllm/entrypoints/cli/serve.py, 0.24 to 0.32).
"""

import multiprocessing
import os

from kvbudget import _core

MODES = {
    _core.ENGINE_OPTIMISTIC: "optimistic",
    _core.ENGINE_STRICT: "strict",
    _core.ENGINE_OBSERVE: "observe",
}


def mode_of(engine):
    """What a later release may add is only watched."""
    return MODES.get(engine["mode"], "observe")


def _base_of(pid):
    return f"/kvbudget-{pid}"


def rank_of(vllm_config):
    """The data-parallel rank of this engine. An engine without experts is told that it is alone, and
    keeps its rank in data_parallel_index (vllm/v1/engine/core.py)."""
    parallel = vllm_config.parallel_config
    index = getattr(parallel, "data_parallel_index", None)
    return index if index is not None else getattr(parallel, "data_parallel_rank", 0)


def writer_name(share, rank):
    parent = multiprocessing.parent_process()
    return f"{share or _base_of(parent.pid if parent else os.getpid())}-{rank}"


def reader_bases(share=None):
    """Where to look, in order. An engine inside this process has the parent's name where this
    process was itself started by another one."""
    if share:
        return [share]
    parent = multiprocessing.parent_process()
    return [_base_of(pid) for pid in [os.getpid()] + ([parent.pid] if parent else [])]


def read(share=None, ranks=None):
    """{rank: figures} of the segments that are there and whole. Without `ranks` those from 0 on until
    one is missing."""
    for base in reader_bases(share):
        found = {}
        for rank in range(ranks or 1024):
            figures = _core.read_snapshot(f"{base}-{rank}")
            if figures is not None:
                found[rank] = figures
            elif ranks is None:
                break
        if found:
            return found
    return {}


def remove(share, ranks):
    """Of engines that went with this process. Under the name of another one only what nobody writes."""
    own, *others = reader_bases(share)
    for rank in range(ranks):
        _core.unlink_snapshot(f"{own}-{rank}")
        for base in others:
            figures = _core.read_snapshot(f"{base}-{rank}")
            if figures is not None and not _is_alive(figures["pid"]):
                _core.unlink_snapshot(f"{base}-{rank}")


def _is_alive(pid):
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    except PermissionError:
        pass
    return True
