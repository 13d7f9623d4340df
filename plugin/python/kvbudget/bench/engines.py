"""Engines one after another in this process: a cache of the model's dtype with vLLM's own attention first,
then FP8 pages with ours. Imported before vLLM, since the environment decides."""

import contextlib
import dataclasses
import gc
import os

for _name, _value in {
    "VLLM_ENABLE_V1_MULTIPROCESSING": "0",  # what happens in the engine is read here
    "VLLM_CPU_OMP_THREADS_BIND": "nobind",
    "VLLM_NO_USAGE_STATS": "1",
    "VLLM_LOGGING_LEVEL": "ERROR",
}.items():
    os.environ.setdefault(_name, _value)


@dataclasses.dataclass(frozen=True)
class Setup:
    name: str
    kv_cache_dtype: str
    is_ours: bool


BASE = Setup("the model's dtype, vLLM's", "auto", False)
OWN_FP8 = Setup("fp8, vLLM's", "fp8", False)
OURS = (Setup("fp8", "fp8", True), Setup("fp8_per_token_head", "fp8_per_token_head", True))


def setups():
    """vLLM's own FP8 only where it starts (vllm/v1/attention/backends/cpu_attn.py, 0.32)."""
    import torch

    has_own = torch.cpu._is_avx512_supported() or torch.cpu._is_amx_tile_supported()
    return (BASE, *((OWN_FP8,) if has_own else ()), *OURS)


@contextlib.contextmanager
def engine(setup, options, **arguments):
    """An LLM that has the one process and all its memory until it is left."""
    from vllm import LLM
    from vllm.distributed import cleanup_dist_env_and_memory
    from vllm.v1.attention import selector
    from vllm.v1.attention.backends.registry import AttentionBackendEnum

    from kvbudget.vllm import attention

    AttentionBackendEnum.CPU_ATTN.clear_override()
    if setup.is_ours:
        attention.register()
    selector._cached_get_attn_backend.cache_clear()
    llm = LLM(
        model=options.model,
        dtype=options.dtype,
        kv_cache_dtype=setup.kv_cache_dtype,
        enforce_eager=True,
        block_size=32,
        **arguments,
    )
    try:
        yield llm
    finally:
        llm.llm_engine.engine_core.shutdown()
        del llm
        gc.collect()
        cleanup_dist_env_and_memory()


def bytes_per_token(llm):
    """Of KV cache, and how many blocks there are."""
    from kvbudget.vllm.plan import bytes_per_block

    scheduler = llm.llm_engine.engine_core.engine_core.scheduler
    config = scheduler.kv_cache_config
    return bytes_per_block(config) // scheduler.block_size, config.num_blocks
