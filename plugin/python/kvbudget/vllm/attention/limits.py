"""What the backend refuses, as sentences: of an engine, and of a layer. An engine that cannot be
served right does not start."""

HEAD_SIZES = (64, 96, 128, 256)
MOST_HEADS_IN_GROUP = 16


def engine_problems(vllm_config):
    """Of vLLM's configuration: what moves, cuts or shares pages in ways that are not ours."""
    found = []
    if getattr(vllm_config, "kv_transfer_config", None) is not None:
        found.append("KV connectors (--kv-transfer-config) may cut pages by heads or tokens")
    parallel = vllm_config.parallel_config
    for name in ("decode_context_parallel_size", "prefill_context_parallel_size"):
        if getattr(parallel, name, 1) > 1:
            found.append(f"context parallelism ({name})")
    model = vllm_config.model_config
    if getattr(model, "is_mm_prefix_lm", False):
        found.append("images that attend to themselves in both directions (prefix LM)")
    if getattr(model, "rswa_window", None) is not None:
        found.append("reference sliding windows")
    if getattr(model, "use_mla", False):
        found.append("MLA (latent attention)")
    return found


def layer_problems(num_heads, num_kv_heads, head_size, attn_type, alibi_slopes):
    found = []
    if attn_type != "decoder":
        found.append(f"attention of type {attn_type}")
    if alibi_slopes is not None:
        found.append("ALiBi")
    if head_size not in HEAD_SIZES:
        found.append(f"head size {head_size} (it can be {', '.join(map(str, HEAD_SIZES))})")
    if num_heads > MOST_HEADS_IN_GROUP * num_kv_heads:
        group = num_heads // num_kv_heads
        found.append(f"{group} query heads for each KV head (at most {MOST_HEADS_IN_GROUP})")
    return found


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
