"""The backend on CPUs, in the place of vLLM's own (vllm/v1/attention/backends/cpu_attn.py, 0.24 to
0.33). Layers with an FP8 cache are ours, whatever the machine's instruction set: vLLM refuses them
without AVX-512 where it builds its metadata. All others are vLLM's."""

import dataclasses

import torch
from vllm.v1.attention.backend import AttentionMetadata, AttentionMetadataBuilder
from vllm.v1.attention.backends.cpu_attn import (
    CPUAttentionBackend,
    CPUAttentionBackendImpl,
    CPUAttentionMetadataBuilder,
)

from kvbudget.vllm.attention import limits
from kvbudget.vllm.attention import ops  # noqa: F401  # registers torch.ops.kvbudget
from kvbudget.vllm.attention.batch import Batch, sequences_of
from kvbudget.vllm.attention.pages import FORMATS

_BLOCK_TOKENS = list(range(16, 129, 16))


def _is_ours(spec):
    """Whether a cache spec is quantised (KVQuantMode, vllm/v1/kv_cache_interface.py)."""
    return spec is not None and int(getattr(spec, "kv_quant_mode", 0)) != 0


class CpuBackend(CPUAttentionBackend):
    supported_kv_cache_dtypes = [
        *CPUAttentionBackend.supported_kv_cache_dtypes,
        *(name for name in FORMATS if name not in CPUAttentionBackend.supported_kv_cache_dtypes),
    ]

    @classmethod
    def supports_kv_cache_dtype(cls, kv_cache_dtype):
        return kv_cache_dtype in FORMATS or super().supports_kv_cache_dtype(kv_cache_dtype)

    @staticmethod
    def get_supported_kernel_block_sizes(kv_cache_spec=None):
        if _is_ours(kv_cache_spec):
            return _BLOCK_TOKENS
        return CPUAttentionBackend.get_supported_kernel_block_sizes()

    @classmethod
    def customize_spec(cls, spec):
        kind = FORMATS.get("fp8_per_token_head" if _has_token_scales(spec) else None)
        if kind is None or spec.state_content_bytes is not None:
            return spec
        return dataclasses.replace(spec, state_content_bytes=kind.cell_bytes(spec.head_size))

    @staticmethod
    def get_kv_cache_shape(
        num_blocks, block_size, num_kv_heads, head_size, cache_dtype_str="auto"
    ):
        kind = FORMATS.get(cache_dtype_str)
        cell = 2 * head_size if kind is None else kind.cell_bytes(head_size)
        return num_blocks, num_kv_heads, block_size, cell

    @staticmethod
    def get_impl_cls():
        return CpuImpl

    @staticmethod
    def get_builder_cls():
        return CpuBuilder


def _has_token_scales(spec):
    mode = getattr(spec, "kv_quant_mode", None)
    return _is_ours(spec) and mode.name == "FP8_PER_TOKEN_HEAD"


@dataclasses.dataclass
class Metadata(AttentionMetadata):
    batch: Batch


class CpuBuilder(CPUAttentionMetadataBuilder):
    def __init__(self, kv_cache_spec, layer_names, vllm_config, device):
        self.is_ours = _is_ours(kv_cache_spec)
        if not self.is_ours:
            super().__init__(kv_cache_spec, layer_names, vllm_config, device)
            return
        limits.refuse(limits.engine_problems(vllm_config))
        AttentionMetadataBuilder.__init__(self, kv_cache_spec, layer_names, vllm_config, device)

    def build(self, common_prefix_len, common_attn_metadata, fast_build=False):
        if not self.is_ours:
            return super().build(common_prefix_len, common_attn_metadata, fast_build)
        common = common_attn_metadata
        if common.causal is not True:
            limits.refuse(["attention that is not causal"])
        return Metadata(
            sequences_of(
                common.block_table_tensor,
                common.seq_lens[: common.num_reqs],
                common.query_start_loc[: common.num_reqs + 1],
                common.max_query_len,
            )
        )


class CpuImpl(CPUAttentionBackendImpl):
    def __init__(self, num_heads, head_size, scale, num_kv_heads, alibi_slopes, sliding_window,
                 kv_cache_dtype, *args, **kwargs):
        super().__init__(num_heads, head_size, scale, num_kv_heads, alibi_slopes, sliding_window,
                         kv_cache_dtype, *args, **kwargs)
        self.is_ours = kv_cache_dtype in FORMATS
        if not self.is_ours:
            limits.refuse([kv_cache_dtype] if self.is_fp8_kv_cache else [])
            return
        limits.refuse(
            limits.layer_problems(num_heads, num_kv_heads, head_size, self.attn_type, alibi_slopes)
        )
        self.float_sinks = None

    def do_kv_cache_update(self, layer, key, value, kv_cache, slot_mapping):
        if not self.is_ours:
            super().do_kv_cache_update(layer, key, value, kv_cache, slot_mapping)
            return
        torch.ops.kvbudget.quantize_kv(
            key, value, kv_cache, slot_mapping, layer._k_scale, layer._v_scale, self.kv_cache_dtype
        )

    def forward(self, layer, query, key, value, kv_cache, attn_metadata, output, *args, **kwargs):
        if not self.is_ours:
            return super().forward(
                layer, query, key, value, kv_cache, attn_metadata, output, *args, **kwargs
            )
        if any(argument is not None for argument in (*args, *kwargs.values())):
            limits.refuse(["quantised output"])
        if attn_metadata is None:  # warming up
            return output
        if self.sinks is not None and self.float_sinks is None:
            self.float_sinks = self.sinks.float().contiguous()
        batch = attn_metadata.batch
        torch.ops.kvbudget.decode(
            query,
            kv_cache,
            output,
            batch.block_table,
            batch.lengths,
            batch.query_starts,
            layer._k_scale,
            layer._v_scale,
            self.float_sinks,
            None,
            None,
            self.kv_cache_dtype,
            batch.query_tokens,
            batch.max_length,
            0,
            self.scale,
            float(self.logits_soft_cap),
            max(0, self.sliding_window),
        )
        return output
