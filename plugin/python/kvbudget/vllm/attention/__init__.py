"""An attention backend on FP8 pages: keys and values are quantised as they are written, and decode
reads the codes (docs/attention.md).

Asked for by KVBUDGET_ATTENTION=1, an environment variable since vLLM gives a general plugin no
configuration, and since it is set for every process of an engine alike. On CPUs vLLM takes its own
backend whatever the command line says, so ours is registered in its place; layers whose cache is not
FP8 stay with vLLM's code. On GPUs it is registered as CUSTOM, for `--attention-backend CUSTOM`.
"""

import os

from kvbudget.vllm import contract

VARIABLE = "KVBUDGET_ATTENTION"
_ISAS = ("avx512_bf16", "avx512", "avx2", "portable")


def is_wanted(environment=os.environ):
    """Raises ValueError for a value that says neither yes nor no."""
    value = environment.get(VARIABLE, "0")
    if value not in ("0", "1", ""):
        raise ValueError(f"kvbudget: {VARIABLE} is {value!r}, it can be 0 or 1")
    isa = environment.get("KVBUDGET_CPU_ISA")
    if value == "1" and isa is not None and isa not in _ISAS:
        raise ValueError(f"kvbudget: KVBUDGET_CPU_ISA is {isa!r}, it can be {', '.join(_ISAS)}")
    return value == "1"


def refuse_release(version, environment=os.environ):
    problem = contract.version_problem(version, environment)
    if problem:
        raise ValueError(f"kvbudget: {VARIABLE} is 1, but {problem}, or unset {VARIABLE}")


def load_kernels():
    try:
        from kvbudget import _kernels  # noqa: F401
    except ImportError as error:
        raise ImportError(
            f"kvbudget: {VARIABLE} is 1, but the kernels cannot be loaded: {error}. Install the package "
            f"anew, or unset {VARIABLE}"
        ) from error


def register():
    """Puts the backend where the engine of this process will find it; says whether it is new. An
    error here ends the engine's start, so that nobody serves with another cache than asked for."""
    from vllm import __version__

    refuse_release(__version__)
    from vllm.platforms import current_platform
    from vllm.v1.attention.backends.registry import AttentionBackendEnum, register_backend

    load_kernels()
    if current_platform.is_cpu():
        place, path = AttentionBackendEnum.CPU_ATTN, f"{__name__}.cpu.CpuBackend"
    elif current_platform.is_cuda():
        place, path = AttentionBackendEnum.CUSTOM, f"{__name__}.cuda.CudaBackend"
    else:
        raise ValueError(f"kvbudget: there is no attention for {current_platform.device_name}")
    is_new = not place.is_overridden() or place.get_path() != path
    register_backend(place, path)
    return is_new
