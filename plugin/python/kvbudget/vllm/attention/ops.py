"""The kernels as operators of torch: what they write is declared, and they have fake twins, so that
compiled graphs may hold them. Tensors reach the library as addresses and strides; nothing is linked.
"""

import logging

import torch
from torch.library import Library
from vllm.platforms import current_platform
from vllm.utils.torch_utils import direct_register_custom_op

from kvbudget import _kernels
from kvbudget.vllm.attention.batch import Batch
from kvbudget.vllm.attention.pages import pages_of

_logger = logging.getLogger("vllm.kvbudget")
_TYPES = {
    torch.float32: _kernels.FLOAT32,
    torch.float16: _kernels.FLOAT16,
    torch.bfloat16: _kernels.BFLOAT16,
}


def _rows(tensor):
    """[tokens, heads, dim] by its first two strides."""
    if tensor.stride(-1) != 1:
        raise ValueError("kvbudget: the elements of a head must lie side by side")
    return tensor.stride(0), tensor.stride(1)


def _stream(tensor):
    return torch.cuda.current_stream(tensor.device).cuda_stream if tensor.is_cuda else 0


def quantize_kv(
    key: torch.Tensor,
    value: torch.Tensor,
    kv_cache: torch.Tensor,
    slots: torch.Tensor,
    key_scale: torch.Tensor,
    value_scale: torch.Tensor,
    kv_cache_dtype: str,
) -> None:
    """`key` and `value`: [tokens, KV heads, dim]; `slots`: [at most so many tokens] int64."""
    nans = _kernels.quantize(
        pages=pages_of(kv_cache, kv_cache_dtype, key_scale, value_scale),
        keys=key.data_ptr(),
        values=value.data_ptr(),
        key_strides=_rows(key),
        value_strides=_rows(value),
        slots=slots.data_ptr(),
        num_tokens=slots.shape[0],
        type=_TYPES[key.dtype],
        threads=torch.get_num_threads(),
        on_gpu=key.is_cuda,
        stream=_stream(key),
    )
    if nans:
        _logger.warning("kvbudget: %d keys or values were NaN and are kept as 0", nans)


def decode(
    query: torch.Tensor,
    kv_cache: torch.Tensor,
    output: torch.Tensor,
    block_table: torch.Tensor,
    lengths: torch.Tensor,
    query_starts: torch.Tensor,
    key_scale: torch.Tensor,
    value_scale: torch.Tensor,
    sinks: torch.Tensor | None,
    work: torch.Tensor | None,
    workspace: torch.Tensor | None,
    kv_cache_dtype: str,
    query_tokens: int,
    max_length: int,
    split_tokens: int,
    softmax_scale: float,
    soft_cap: float,
    window: int,
) -> None:
    """`query` and `output`: [tokens, heads, dim]; the batch as in batch.py. `work`, `workspace` and
    `split_tokens` are a plan's, on GPUs alone."""
    call = decode_call(query, kv_cache, key_scale, value_scale, kv_cache_dtype, softmax_scale,
                       soft_cap, window)
    set_tensors(
        call, query, output, sinks,
        Batch(block_table, lengths, query_starts, query_tokens, max_length),
    )  # fmt: skip
    if work is None:
        call.run_cpu(torch.get_num_threads())
        return
    capacity = (work.shape[0] - lengths.shape[0] - 1) // 2
    call.run_gpu(work.data_ptr(), capacity, split_tokens, workspace.data_ptr(),
                 workspace.nbytes, _stream(query))


def decode_call(query, kv_cache, key_scale, value_scale, kv_cache_dtype, softmax_scale, soft_cap,
                window):
    return _kernels.Decode(
        pages=pages_of(kv_cache, kv_cache_dtype, key_scale, value_scale),
        num_query_heads=query.shape[1],
        softmax_scale=softmax_scale,
        soft_cap=soft_cap,
        window=window,
        type=_TYPES[query.dtype],
    )


def set_tensors(call, query, output, sinks, batch):
    call.tensors(
        query.data_ptr(),
        _rows(query),
        output.data_ptr(),
        _rows(output),
        0 if sinks is None else sinks.data_ptr(),
    )
    call.batch(
        batch.block_table.data_ptr(),
        batch.block_table.stride(0),
        batch.lengths.data_ptr(),
        batch.query_starts.data_ptr(),
        batch.lengths.shape[0],
        batch.query_tokens,
        batch.max_length,
    )


def _nothing(*_arguments, **_keywords):
    """They return nothing and change what is declared, also when traced."""


_library = Library("kvbudget", "FRAGMENT")
for _operator, _changed in ((quantize_kv, "kv_cache"), (decode, "output")):
    direct_register_custom_op(
        op_name=_operator.__name__,
        op_func=_operator,
        mutates_args=[_changed] + (["workspace"] if _operator is decode else []),
        fake_impl=_nothing,
        target_lib=_library,
        dispatch_key=current_platform.dispatch_key,
    )
