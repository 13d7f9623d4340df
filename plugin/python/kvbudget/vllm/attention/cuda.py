"""The backend on GPUs, for `--attention-backend CUSTOM`. NOTE: it has never run on one, as the GPU
kernels have not.

A step's pieces are planned on the host once for all layers of the same shape, which waits for the
lengths; so it declares no full CUDA graphs, and piecewise ones leave attention out. New files of
vLLM's that it follows: vllm/v1/attention/backend.py and backends/triton_attn.py, 0.29 to 0.33."""

import dataclasses

import torch
from vllm.v1.attention.backend import (
    AttentionBackend,
    AttentionImpl,
    AttentionMetadata,
    AttentionMetadataBuilder,
)
from vllm.v1.kv_cache_interface import KVCacheLayout

from kvbudget.vllm.attention import limits, ops
from kvbudget.vllm.attention.batch import Batch, sequences_of
from kvbudget.vllm.attention.layer import Fp8Layer, refuse_bad_scales
from kvbudget.vllm.attention.pages import FORMATS, customize_spec, refuse_dtype

_CTAS_PER_MULTIPROCESSOR = 4  # resident at once (kernels/README.md)
_MOST_WAVES = 3  # what a plan may need, so that its capacity is never short


class CudaBackend(AttentionBackend):
    forward_includes_kv_cache_update = False
    supported_dtypes = [torch.float16, torch.bfloat16]
    supported_kv_cache_dtypes = list(FORMATS)

    @staticmethod
    def get_name():
        return "CUSTOM"

    @staticmethod
    def get_impl_cls():
        return CudaImpl

    @staticmethod
    def get_builder_cls():
        return CudaBuilder

    @classmethod
    def get_supported_head_sizes(cls):
        return list(limits.HEAD_SIZES)

    @staticmethod
    def get_supported_kernel_block_sizes(kv_cache_spec=None):
        return limits.BLOCK_TOKENS

    @classmethod
    def customize_spec(cls, spec):
        return customize_spec(spec)

    @classmethod
    def supported_kv_cache_layouts(cls):
        return (KVCacheLayout.LBHNC,)  # a page of a block and KV head lies in one piece

    @classmethod
    def supports_compute_capability(cls, capability):
        return capability.major >= 8

    @classmethod
    def supports_sink(cls):
        return True

    @classmethod
    def supports_sliding_window(cls):
        return True

    @classmethod
    def supports_per_head_quant_scales(cls):
        return True

    @classmethod
    def supports_kv_connector(cls):
        return False


@dataclasses.dataclass
class Plan:
    work: torch.Tensor  # int32: first pieces, then pairs (sequence, split)
    workspace: torch.Tensor
    split_tokens: int


@dataclasses.dataclass
class Metadata(AttentionMetadata):
    batch: Batch
    host: Batch  # the same with lengths and query_starts in host memory
    plans: dict  # by what they depend on beside the batch


class CudaBuilder(AttentionMetadataBuilder):
    def __init__(self, kv_cache_spec, layer_names, vllm_config, device):
        refuse_bad_scales(vllm_config, layer_names)
        super().__init__(kv_cache_spec, layer_names, vllm_config, device)

    def build(self, common_prefix_len, common_attn_metadata, fast_build=False):
        common = common_attn_metadata
        if common.causal is not True:
            limits.refuse(["attention that is not causal"])
        host = sequences_of(
            common.block_table_tensor[: common.num_reqs],
            common.seq_lens[: common.num_reqs].cpu(),
            common.query_start_loc_cpu[: common.num_reqs + 1],
            common.max_query_len,
        )
        batch = dataclasses.replace(
            host,
            lengths=host.lengths.to(self.device, non_blocking=True),
            query_starts=host.query_starts.to(self.device, non_blocking=True),
        )
        return Metadata(batch, host, {})


class CudaImpl(AttentionImpl):
    def __init__(
        self, num_heads, head_size, scale, num_kv_heads, alibi_slopes, sliding_window,
        kv_cache_dtype, logits_soft_cap=None, attn_type="decoder",
        kv_sharing_target_layer_name=None, sinks=None,
    ):  # fmt: skip
        self.num_heads, self.head_size, self.num_kv_heads = num_heads, head_size, num_kv_heads
        self.scale = float(scale)
        self.kv_cache_dtype = kv_cache_dtype
        self.kv_sharing_target_layer_name = kv_sharing_target_layer_name
        if kv_cache_dtype not in FORMATS:
            refuse_dtype(kv_cache_dtype)
        self.kvb = Fp8Layer(self, attn_type, alibi_slopes, sliding_window, logits_soft_cap, sinks)

    def do_kv_cache_update(self, layer, key, value, kv_cache, slot_mapping):
        self.kvb.write(layer, key, value, kv_cache, slot_mapping)

    def forward(self, layer, query, key, value, kv_cache, attn_metadata, output, *args, **kwargs):
        limits.refuse_output_scales(args, kwargs)
        if attn_metadata is None:  # profiling
            return output.fill_(0)
        plan = self.plan(layer, query, kv_cache, output, attn_metadata)
        return self.kvb.attend(layer, query, kv_cache, output, attn_metadata.batch, plan)

    def plan(self, layer, query, kv_cache, output, metadata):
        key = (query.shape[1:], kv_cache.shape[1:], self.kvb.window)
        if key not in metadata.plans:
            metadata.plans[key] = self.new_plan(layer, query, kv_cache, output, metadata)
        return metadata.plans[key]

    def new_plan(self, layer, query, kv_cache, output, metadata):
        host = metadata.host
        properties = torch.cuda.get_device_properties(query.device)
        ctas = _CTAS_PER_MULTIPROCESSOR * properties.multi_processor_count
        capacity = len(host.lengths) + _MOST_WAVES * ctas
        work = torch.empty(len(host.lengths) + 1 + 2 * capacity, dtype=torch.int32)
        call = ops.decode_call(
            query, kv_cache, layer._k_scale, layer._v_scale, self.kv_cache_dtype, self.scale,
            self.kvb.soft_cap, self.kvb.window,
        )  # fmt: skip
        ops.set_tensors(call, query, output, self.kvb.sinks(), host)
        split_tokens, workspace_bytes = call.plan(
            host.lengths.data_ptr(), host.query_starts.data_ptr(), ctas, work.data_ptr(), capacity
        )
        workspace = torch.empty(workspace_bytes, dtype=torch.uint8, device=query.device)
        return Plan(work.to(query.device), workspace, split_tokens)
