"""One attention layer on FP8 pages, whatever the machine: what its calls to the kernels have in common."""

import torch
from vllm import __version__
from vllm.config import get_current_vllm_config

from kvbudget.vllm import contract
from kvbudget.vllm.attention import limits
from kvbudget.vllm.attention import ops  # noqa: F401  # registers torch.ops.kvbudget
from kvbudget.vllm.attention.pages import FORMATS


def refuse_bad_scales(vllm_config, layer_names):
    """Of the checkpoint, when it is loaded."""
    context = vllm_config.compilation_config.static_forward_context
    layers = {name: context[name] for name in layer_names}
    limits.refuse(
        limits.scale_problems(
            {n: x for n, x in layers.items() if not FORMATS[x.kv_cache_dtype].has_token_scales}
        )
    )


class Fp8Layer:
    def __init__(self, impl, attn_type, alibi_slopes, sliding_window, logits_soft_cap, sinks):
        """`impl`: the engine's object for the layer, with its sizes set. Made before weights are loaded,
        so that an engine that cannot start says so soon."""
        vllm_config = get_current_vllm_config()
        limits.refuse(
            limits.engine_problems(vllm_config)
            + limits.release_problems(vllm_config, contract.release_of(__version__))
            + limits.layer_problems(
                impl.num_heads, impl.num_kv_heads, impl.head_size, attn_type, alibi_slopes
            )
        )
        self.kv_cache_dtype = impl.kv_cache_dtype
        self.scale = impl.scale
        self.window = max(0, sliding_window or 0)
        self.soft_cap = float(logits_soft_cap or 0.0)
        self._sinks = sinks
        self._float_sinks = None

    def write(self, layer, key, value, kv_cache, slots):
        torch.ops.kvbudget.quantize_kv(
            key, value, kv_cache, slots, layer._k_scale, layer._v_scale, self.kv_cache_dtype
        )

    def sinks(self):
        """In float32; made late, since weights are loaded after the layer is built."""
        if self._sinks is not None and self._float_sinks is None:
            self._float_sinks = self._sinks.float().contiguous()
        return self._float_sinks

    def attend(self, layer, query, kv_cache, output, batch, plan=None):
        torch.ops.kvbudget.decode(
            query,
            kv_cache,
            output,
            batch.block_table,
            batch.lengths,
            batch.query_starts,
            layer._k_scale,
            layer._v_scale,
            self.sinks(),
            plan.work if plan else None,
            plan.workspace if plan else None,
            self.kv_cache_dtype,
            batch.query_tokens,
            batch.max_length,
            plan.split_tokens if plan else 0,
            self.scale,
            self.soft_cap,
            self.window,
        )
        return output
