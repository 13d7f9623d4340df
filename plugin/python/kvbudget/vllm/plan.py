"""Whether an engine is the one that a plan was made for: each number compared, each difference said
with the flag that would remove it.

The facts come from the engine's configuration as it is when the scheduler is built, after
profiling (vllm/config/*.py, vllm/v1/kv_cache_interface.py, 0.24 to 0.32).
"""

import dataclasses

from kvbudget.vllm import model_config


@dataclasses.dataclass(frozen=True)
class Engine:
    """What the engine really is; the names are those of the plan."""

    version: str
    model: str
    dtype: str
    kv_cache_dtype: str
    block_size: int
    bytes_per_block: int
    num_blocks: int
    max_model_len: int
    max_num_seqs: int
    tp: int
    pp: int
    dp: int | None  # None: an engine without experts is told that it is alone
    config_sha256: str | None = None  # None: config.json is not at hand


def bytes_per_block(kv_cache_config):
    """Of one block over all layers of a rank. Up to 0.28 each tensor has a size of its own, or all
    are packed in one (block_stride); later each one names the allocation that all of them share."""
    tensors = [t for t in kv_cache_config.kv_cache_tensors if not getattr(t, "host_resident", False)]
    if not tensors or not kv_cache_config.num_blocks:
        return 0
    is_shared = any(hasattr(t, "layers") or getattr(t, "block_stride", 0) for t in tensors)
    sizes = [t.size for t in tensors]
    return (max(sizes) if is_shared else sum(sizes)) // kv_cache_config.num_blocks


def engine_of(version, vllm_config, kv_cache_config):
    model, cache, parallel = (
        vllm_config.model_config,
        vllm_config.cache_config,
        vllm_config.parallel_config,
    )
    return Engine(
        version=version,
        model=model.model,
        dtype=str(model.dtype).removeprefix("torch."),
        kv_cache_dtype=str(cache.cache_dtype),
        block_size=cache.block_size,
        bytes_per_block=bytes_per_block(kv_cache_config),
        num_blocks=kv_cache_config.num_blocks,
        max_model_len=model.max_model_len,
        max_num_seqs=vllm_config.scheduler_config.max_num_seqs,
        tp=parallel.tensor_parallel_size,
        pp=parallel.pipeline_parallel_size,
        dp=_data_parallel(model, parallel),
        config_sha256=model_config.sha256_of(model),
    )


def _data_parallel(model, parallel):
    is_told = parallel.data_parallel_size > 1 or getattr(model, "is_moe", True)
    return parallel.data_parallel_size if is_told else None


def _same_model(planned, found):
    # Offline the engine replaces a Hub id by its snapshot's folder (vllm/engine/arg_utils.py).
    return planned == found or f"/models--{planned.replace('/', '--')}/" in found


def _same_kv_dtype(planned, engine):
    names = {engine.kv_cache_dtype}
    if engine.kv_cache_dtype == "auto":
        names.add(engine.dtype)
    return planned in names or (planned == "auto" and engine.kv_cache_dtype == engine.dtype)


def _same_version(versions, found):
    wanted = [versions] if isinstance(versions, str) else versions
    release = found.split("+")[0]
    return any(release == v or release.startswith(f"{v}.") for v in wanted)


def problems(plan, engine):
    """A sentence for each number in which the engine is not the plan's."""
    found = []

    def differs(what, planned, real, remedy):
        found.append(f"{what}: the plan says {planned}, the engine has {real}; {remedy}")

    def compare(what, planned, real, flag):
        if planned is not None and real is not None and planned != real:
            differs(what, planned, real, f"start it with {flag} {planned} or make the plan anew")

    made_for = plan.get("engine") or {}
    if made_for.get("versions") and not _same_version(made_for["versions"], engine.version):
        versions = made_for["versions"]
        shown = versions if isinstance(versions, str) else ", ".join(versions)
        differs("vLLM's version", shown, engine.version, "make the plan anew with --engine")
    model = plan.get("model")
    if model is not None and not _same_model(model, engine.model):
        differs("model", model, engine.model, f"start it with --model {model}")
    planned_config = plan.get("config_sha256") if plan.get("config_source") == "config.json" else None
    if planned_config and engine.config_sha256 not in (None, planned_config):
        remedy = "make the plan anew from this config.json"
        differs("config_sha256", planned_config[:12], engine.config_sha256[:12], remedy)
    compare("dtype", plan.get("dtype"), engine.dtype, "--dtype")
    kv_dtype = plan.get("kv_cache_dtype")
    if kv_dtype is not None and not _same_kv_dtype(kv_dtype, engine):
        real = engine.kv_cache_dtype
        differs("kv_cache_dtype", kv_dtype, real, f"start it with --kv-cache-dtype {kv_dtype}")
    parallel = plan.get("parallel") or {}
    compare("tp", parallel.get("tp"), engine.tp, "--tensor-parallel-size")
    compare("pp", parallel.get("pp"), engine.pp, "--pipeline-parallel-size")
    compare("dp", parallel.get("dp"), engine.dp, "--data-parallel-size")
    compare("max_model_len", plan.get("max_model_len"), engine.max_model_len, "--max-model-len")
    compare("max_num_seqs", plan.get("max_num_seqs"), engine.max_num_seqs, "--max-num-seqs")
    compare("block_size", plan.get("block_size"), engine.block_size, "--block-size")
    planned_bytes = plan.get("bytes_per_block")
    # The plan has the largest of all ranks; the engine shows one, which is the same but in pipelines.
    is_other = engine.bytes_per_block > (planned_bytes or 0) if engine.pp > 1 else (
        engine.bytes_per_block != planned_bytes
    )
    if planned_bytes is not None and is_other:
        remedy = "another model, --kv-cache-dtype or --block-size than planned"
        differs("bytes_per_block", planned_bytes, engine.bytes_per_block, remedy)
    compare("num_blocks", plan.get("num_blocks"), engine.num_blocks, "--num-gpu-blocks-override")
    return found


def verify(plan, engine):
    """Raises ValueError when the engine is not the plan's, or the plan cannot be checked."""
    missing = [key for key in ("num_blocks", "usable_blocks", "block_size") if plan.get(key) is None]
    if missing:
        raise ValueError(f"kvbudget: the plan has no {missing[0]}; write it with `kvbudget plan`")
    found = problems(plan, engine)
    if found:
        raise ValueError("kvbudget: the engine is not the plan's:\n  " + "\n  ".join(found))
