"""What the backend refuses, as sentences: of an engine, of a layer, and of a checkpoint's scales. An
engine that cannot be served right does not start."""

import math

HEAD_SIZES = (64, 96, 128, 256)
MOST_HEADS_IN_GROUP = 16
BLOCK_STEP = 16
BLOCK_TOKENS = list(range(BLOCK_STEP, 129, BLOCK_STEP))  # the engine cuts larger blocks into such


def engine_problems(vllm_config):
    """Of vLLM's configuration: what moves, cuts or shares pages in ways that are not ours."""
    found = []
    if getattr(vllm_config, "kv_transfer_config", None) is not None:
        found.append("KV connectors (--kv-transfer-config) may cut pages by heads or tokens")
    parallel = vllm_config.parallel_config
    for name in ("decode_context_parallel_size", "prefill_context_parallel_size"):
        if getattr(parallel, name, 1) > 1:
            found.append(f"context parallelism ({name})")
    block_tokens = getattr(getattr(vllm_config, "cache_config", None), "block_size", None)
    if block_tokens and block_tokens % BLOCK_STEP:
        found.append(f"--block-size {block_tokens} (it can be a multiple of {BLOCK_STEP})")
    model = vllm_config.model_config
    if getattr(model, "is_mm_prefix_lm", False):
        found.append("images that attend to themselves in both directions (prefix LM)")
    if getattr(model, "rswa_window", None) is not None:
        found.append("reference sliding windows")
    if getattr(model, "use_mla", False):
        found.append("MLA (latent attention)")
    return found


def release_problems(vllm_config, release):
    """`release`: as (0, 32), or nothing where it is not known. 0.24 shapes the pages of all layers by the
    dtype of the command line."""
    cache = vllm_config.cache_config
    is_mixed = getattr(cache, "kv_cache_dtype_skip_layers", None)
    if is_mixed and cache.cache_dtype == "fp8_per_token_head" and release and release < (0, 25):
        return ["--kv-cache-dtype-skip-layers beside fp8_per_token_head before vLLM 0.25"]
    return []


def layer_problems(num_heads, num_kv_heads, head_size, attn_type, alibi_slopes):
    found = []
    if attn_type != "decoder":
        found.append(f"attention of type {getattr(attn_type, 'value', attn_type)}")
    if alibi_slopes is not None:
        found.append("ALiBi")
    if head_size not in HEAD_SIZES:
        found.append(f"head size {head_size} (it can be {', '.join(map(str, HEAD_SIZES))})")
    if num_heads > MOST_HEADS_IN_GROUP * num_kv_heads:
        group = num_heads // num_kv_heads
        found.append(f"{group} query heads for each KV head (at most {MOST_HEADS_IN_GROUP})")
    return found


def scale_problems(layers):
    """`layers`: the engine's, by name. Static scales that no code can be made with, and a layer that
    reads another's pages with scales of its own: of all that are wrong the first, with the way out."""
    found = [problem for name in layers for problem in _scale_problems(name, layers)]
    return [f"{found[0]}: --kv-cache-dtype fp8_per_token_head needs no such scales"] if found else []


def _scale_problems(name, layers):
    target_name = getattr(layers[name], "kv_sharing_target_layer_name", None)
    for which in ("k_scale", "v_scale"):
        scales = _scales(layers[name], which)
        for scale in scales:
            if not math.isfinite(scale) or scale == 0:
                yield f"a {which} of {scale} ({name})"
        if target_name in layers and scales != _scales(layers[target_name], which):
            yield (
                f"a {which} of {scales} ({name}) for pages that {target_name} writes "
                f"with {_scales(layers[target_name], which)}"
            )


def _scales(layer, which):
    return getattr(layer, f"_{which}").flatten().tolist()


def refuse_output_scales(arguments, keywords):
    """What vLLM hands to an attention that could quantise its output, which ours does not say."""
    if any(value is not None for value in (*arguments, *keywords.values())):
        refuse(["quantised output"])


def refuse(problems):
    if problems:
        raise ValueError(
            f"kvbudget: FP8 pages do not support {'; '.join(problems)}. "
            "Unset KVBUDGET_ATTENTION or use --kv-cache-dtype auto"
        )
