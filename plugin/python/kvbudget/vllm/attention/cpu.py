"""The backend on CPUs, in the place of vLLM's own (vllm/v1/attention/backends/cpu_attn.py, 0.24 to
0.33). Layers with an FP8 cache are ours, whatever the machine's instruction set: vLLM refuses them
without AVX-512, where it builds its metadata, up to 0.28 its layers as well, and in 0.33 where it
chooses the backend. All others are vLLM's."""

import copy
import dataclasses
import logging

from vllm.v1.attention.backend import AttentionMetadata, AttentionMetadataBuilder
from vllm.v1.attention.backends.cpu_attn import (
    CPUAttentionBackend,
    CPUAttentionBackendImpl,
    CPUAttentionMetadataBuilder,
)

from kvbudget.vllm.attention import VARIABLE, limits
from kvbudget.vllm.attention.batch import Batch, sequences_of
from kvbudget.vllm.attention.layer import Fp8Layer, refuse_bad_scales
from kvbudget.vllm.attention.pages import FORMATS, UNQUANTISED, customize_spec, refuse_dtype

_logger = logging.getLogger("vllm.kvbudget")


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
            return limits.BLOCK_TOKENS
        return CPUAttentionBackend.get_supported_kernel_block_sizes()

    @classmethod
    def customize_spec(cls, spec):
        return customize_spec(spec)

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


@dataclasses.dataclass
class Metadata(AttentionMetadata):
    batch: Batch


def _config_for_unquantised(vllm_config):
    """vLLM's builder takes the dtype of the command line for that of its layers, also of skipped ones."""
    kv_cache_dtype = vllm_config.cache_config.cache_dtype
    if kv_cache_dtype in UNQUANTISED:
        _logger.warning(
            "kvbudget: %s is 1, but --kv-cache-dtype is %s, which vLLM's own attention serves; FP8 pages "
            "come with %s", VARIABLE, kv_cache_dtype, ", ".join(FORMATS),
        )  # fmt: skip
        return vllm_config
    config = copy.copy(vllm_config)
    config.cache_config = copy.copy(config.cache_config)
    config.cache_config.cache_dtype = "auto"
    return config


class CpuBuilder(CPUAttentionMetadataBuilder):
    def __init__(self, kv_cache_spec, layer_names, vllm_config, device):
        self.is_ours = _is_ours(kv_cache_spec)
        if not self.is_ours:
            config = _config_for_unquantised(vllm_config)
            super().__init__(kv_cache_spec, layer_names, config, device)
            return
        refuse_bad_scales(vllm_config, layer_names)
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
        # Up to 0.28 it refuses FP8 here without AVX-512.
        super().__init__(num_heads, head_size, scale, num_kv_heads, alibi_slopes, sliding_window,
                         "auto" if kv_cache_dtype in FORMATS else kv_cache_dtype, *args, **kwargs)
        self.kv_cache_dtype = kv_cache_dtype
        self.kvb = None  # a layer of vLLM's own
        if kv_cache_dtype in FORMATS:
            self.kvb = Fp8Layer(
                self, self.attn_type, alibi_slopes, sliding_window, self.logits_soft_cap, self.sinks
            )
        elif kv_cache_dtype not in UNQUANTISED:
            refuse_dtype(kv_cache_dtype)

    def do_kv_cache_update(self, layer, key, value, kv_cache, slot_mapping):
        if self.kvb is None:
            super().do_kv_cache_update(layer, key, value, kv_cache, slot_mapping)
        else:
            self.kvb.write(layer, key, value, kv_cache, slot_mapping)

    def forward(self, layer, query, key, value, kv_cache, attn_metadata, output, *args, **kwargs):
        if self.kvb is None:
            return super().forward(
                layer, query, key, value, kv_cache, attn_metadata, output, *args, **kwargs
            )
        limits.refuse_output_scales(args, kwargs)
        if attn_metadata is None:  # warming up
            return output
        return self.kvb.attend(layer, query, kv_cache, output, attn_metadata.batch)
