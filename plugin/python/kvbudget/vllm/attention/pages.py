"""vLLM's cache tensor of a layer as pages of our kernels: the one place that knows its shape.

    0.24 to 0.28   [blocks, heads, tokens, 2 * dim], from the backend's get_kv_cache_shape
    0.28 to 0.33   [blocks, heads, tokens, content], content from the backend's customize_spec

both by strides, keys and values side by side (vllm/v1/attention/backends/cpu_attn.py and, from 0.28,
vllm/v1/kv_cache_interface.py). With a scale per token and head a cell has 2 * dim + 8 bytes, as
vLLM's own format of that name; the engine hands us whole pages of such cells, and inside a page lie
codes first and scales behind them (kernels/README.md, KVB-P1), so that rows stay aligned. They are
floats, which those 8 bytes hold, of least error for each row (kernels/quantize/scale_search.h).
"""

import dataclasses
import functools

from kvbudget import _kernels
from kvbudget.vllm.attention import limits

SCALE_BYTES = 8  # of a token and head: two float32


@dataclasses.dataclass(frozen=True)
class Format:
    """What a kv_cache_dtype means here."""

    type: int
    has_token_scales: bool = False

    def cell_bytes(self, head_size):
        return 2 * head_size + (SCALE_BYTES if self.has_token_scales else 0)


FORMATS = {
    "fp8": Format(_kernels.FLOAT8_E4M3),
    "fp8_e4m3": Format(_kernels.FLOAT8_E4M3),
    "fp8_e5m2": Format(_kernels.FLOAT8_E5M2),
    "fp8_per_token_head": Format(_kernels.FLOAT8_E4M3, has_token_scales=True),
}

UNQUANTISED = ("auto", "float16", "bfloat16")


def refuse_dtype(kv_cache_dtype):
    limits.refuse([f"--kv-cache-dtype {kv_cache_dtype} (it can be {', '.join(FORMATS)})"])


def customize_spec(spec):
    """The engine's cache spec of a layer, with our bytes for a cell where they are not two rows."""
    mode = getattr(spec, "kv_quant_mode", None)
    if getattr(mode, "name", None) != "FP8_PER_TOKEN_HEAD" or spec.state_content_bytes is not None:
        return spec
    cell = FORMATS["fp8_per_token_head"].cell_bytes(spec.head_size)
    return dataclasses.replace(spec, state_content_bytes=cell)


@dataclasses.dataclass(frozen=True)
class PageView:
    """Addresses and strides in bytes, sizes in elements."""

    base: int
    block_stride: int
    head_stride: int
    token_stride: int
    num_blocks: int
    num_kv_heads: int
    block_tokens: int
    head_size: int
    format: Format


def page_view(kv_cache, kv_cache_dtype):
    """`kv_cache`: [blocks, heads, tokens, content] of bytes."""
    kind = FORMATS[kv_cache_dtype]
    if kv_cache.dim() != 4 or kv_cache.element_size() != 1:
        raise ValueError(
            f"kvbudget: a KV cache of shape {tuple(kv_cache.shape)} and {kv_cache.dtype} is not "
            "[blocks, heads, tokens, content] of bytes"
        )
    num_blocks, num_kv_heads, block_tokens, cell = kv_cache.shape
    block_stride, head_stride, token_stride, byte_stride = kv_cache.stride()
    head_size = (cell - (SCALE_BYTES if kind.has_token_scales else 0)) // 2
    if kind.cell_bytes(head_size) != cell or byte_stride != 1:
        raise ValueError(f"kvbudget: cells of {cell} bytes are not those of {kv_cache_dtype}")
    if kind.has_token_scales:
        if token_stride != cell:
            raise ValueError("kvbudget: pages with scales must be contiguous for each KV head; "
                             "unset VLLM_KV_CACHE_LAYOUT")
        token_stride = 2 * head_size
    return PageView(kv_cache.data_ptr(), block_stride, head_stride, token_stride, num_blocks,
                    num_kv_heads, block_tokens, head_size, kind)


@functools.lru_cache(maxsize=4096)  # one for each layer of each engine of the process
def _pages(view, key_scales, value_scales, static_scales):
    scales, scale_stride = static_scales, 0
    if view.format.has_token_scales:
        scales, scale_stride = _kernels.SCALES_TOKEN_HEAD_F32, SCALE_BYTES // 2
        key_scales = view.base + view.block_tokens * view.token_stride
        value_scales = key_scales + view.block_tokens * scale_stride
    return _kernels.Pages(
        keys=view.base,
        values=view.base + view.head_size,
        block_stride=view.block_stride,
        head_stride=view.head_stride,
        token_stride=view.token_stride,
        num_blocks=view.num_blocks,
        num_kv_heads=view.num_kv_heads,
        block_tokens=view.block_tokens,
        head_dim=view.head_size,
        type=view.format.type,
        scales=scales,
        key_scales=key_scales,
        value_scales=value_scales,
        scale_token_stride=scale_stride,
    )


def pages_of(kv_cache, kv_cache_dtype, key_scale, value_scale):
    """The struct for the kernels. The static scales, float32 tensors of one or of a KV head each,
    are read when a kernel runs."""
    static = _kernels.SCALES_TENSOR if key_scale.numel() == 1 else _kernels.SCALES_HEAD
    return _pages(page_view(kv_cache, kv_cache_dtype), key_scale.data_ptr(), value_scale.data_ptr(),
                  static)
