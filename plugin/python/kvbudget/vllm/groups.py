"""The engine's KV cache groups as the ledger counts them.

A group's class says how its blocks grow (vllm/v1/kv_cache_interface.py and
vllm/v1/core/single_type_kv_cache_manager.py, 0.24 to 0.32). Classes are known by their exact names:
a subclass may grow otherwise, so what is not in the table is not understood.
"""

import inspect

from kvbudget._core import GROUP_BOUNDED, GROUP_FULL, GROUP_STATE, Groups

_FULL = ("FullAttentionSpec", "MLAAttentionSpec", "SinkFullAttentionSpec")
_BOUNDED = ("SlidingWindowSpec", "SlidingWindowMLASpec", "ChunkedLocalAttentionSpec")
_NO_CACHE = "EncoderOnlyAttentionSpec"
_MOST_GROUPS = 16  # of kvb_blocks_needed


def _ceiling(a, b):
    return -(-a // b)


def _in_flight_tokens(vllm_config):
    """Scheduled and not yet settled, at most. Counted over all batches in flight from 0.25 on."""
    tokens = getattr(vllm_config, "max_in_flight_tokens", None)
    return tokens if tokens else vllm_config.scheduler_config.max_num_batched_tokens


def _most_bounded(spec, vllm_config):
    method = spec.max_admission_blocks_per_request
    first = next(iter(inspect.signature(method).parameters))  # its name changed after 0.24
    in_flight = {first: _in_flight_tokens(vllm_config)}
    return method(**in_flight, max_model_len=vllm_config.model_config.max_model_len)


def _most_state(spec, vllm_config):
    blocks = _ceiling(spec.max_memory_usage_bytes(vllm_config), spec.page_size_bytes)
    # A state that the prefix cache retains may be copied before it is written on.
    is_retained = vllm_config.cache_config.enable_prefix_caching
    return blocks + (1 if is_retained else 0)


def _row(spec, vllm_config):
    """(kind, tokens a block, most blocks); None for no cache. Raises KeyError for unknown classes."""
    name = type(spec).__name__
    if name == "UniformTypeKVCacheSpecs":  # layers of one type in different sizes share a table
        rows = [_row(inner, vllm_config) for inner in spec.kv_cache_specs.values()]
        rows = [row for row in rows if row is not None]
        if len({(kind, tokens) for kind, tokens, _ in rows}) > 1:
            raise KeyError(name)
        return max(rows, default=None, key=lambda row: row[2])
    if name == _NO_CACHE:
        return None
    if name in _FULL:
        return GROUP_FULL, spec.block_size, 0
    if name in _BOUNDED:
        return GROUP_BOUNDED, spec.block_size, _most_bounded(spec, vllm_config)
    if name == "MambaSpec" and spec.mamba_cache_mode == "all":  # a state kept for every block
        return GROUP_FULL, spec.block_size, 0
    if name == "MambaSpec":
        return GROUP_STATE, spec.block_size, _most_state(spec, vllm_config)
    if name == "CrossAttentionSpec":  # as many encoder tokens as a request may have
        return GROUP_STATE, spec.block_size, _ceiling(
            spec.max_memory_usage_bytes(vllm_config), spec.page_size_bytes
        )
    raise KeyError(name)


def problems(vllm_config, kv_cache_config):
    """What the guarantee of strict mode cannot be given for, a sentence each."""
    found = []
    parallel = vllm_config.parallel_config
    for flag in ("decode_context_parallel_size", "prefill_context_parallel_size"):
        if getattr(parallel, flag, 1) > 1:
            found.append(f"--{flag.replace('_', '-')} {getattr(parallel, flag)} is not modelled")
    if len(kv_cache_config.kv_cache_groups) > _MOST_GROUPS:
        found.append(f"{len(kv_cache_config.kv_cache_groups)} KV cache groups, at most {_MOST_GROUPS}")
    for group in kv_cache_config.kv_cache_groups:
        try:
            _row(group.kv_cache_spec, vllm_config)
        except KeyError as error:
            found.append(f"KV cache groups of class {error.args[0]} are not modelled")
    return found


def groups_of(vllm_config, kv_cache_config):
    """For kvb_blocks_needed; what is not understood counts as full attention, the most there is."""
    rows = []
    for group in kv_cache_config.kv_cache_groups[:_MOST_GROUPS]:
        try:
            row = _row(group.kv_cache_spec, vllm_config)
        except KeyError:
            row = (GROUP_FULL, group.kv_cache_spec.block_size, 0)
        if row is not None:
            rows.append(row)
    return Groups(rows)


def copies_partial_blocks(kv_cache_config, block_size, hash_block_size):
    """Whether a prefix hit may end inside a block, which is then copied before it is written: where
    prefixes are hashed in smaller pieces than blocks, or groups have blocks of different sizes."""
    is_finer = hash_block_size is not None and hash_block_size < block_size
    return is_finer or len(kv_cache_config.kv_cache_groups) > 1
