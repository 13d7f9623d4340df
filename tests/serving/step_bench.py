"""What an admission costs, and what the budget adds to a scheduler step of a real vLLM.

    step_bench.py FOLDER

The step is compared with the stock scheduler's. No model runs: it is schedule() and
update_from_output() with tokens made up here. Both schedulers serve the same 256 requests and take
their steps in turn, in one process; CPU time is compared pair by pair, so that a busy machine disturbs
little. FOLDER gets a small model's configuration and a plan."""

import dataclasses
import gc
import json
import pathlib
import statistics
import sys
import time

import kvbudget.vllm
import ledger_bench
import torch
from vllm import SamplingParams, __version__
from vllm.engine.arg_utils import EngineArgs
from vllm.v1.core.sched.async_scheduler import AsyncScheduler
from vllm.v1.core.sched.scheduler import Scheduler
from vllm.v1.kv_cache_interface import FullAttentionSpec, KVCacheConfig, KVCacheGroupSpec, KVCacheTensor
from vllm.v1.outputs import ModelRunnerOutput
from vllm.v1.request import Request
from vllm.v1.structured_output import StructuredOutputManager

REQUESTS = 256
BLOCK_TOKENS, PROMPT_TOKENS, OUTPUT_TOKENS = 16, 512, 1536
LIFE_BLOCKS = (PROMPT_TOKENS + OUTPUT_TOKENS) // BLOCK_TOKENS
BLOCKS = REQUESTS * (LIFE_BLOCKS + 1) + 1
WARM_UP, STEPS = 64, 512
STEP_SECONDS = 0.005
LAYERS, KV_HEADS, HEAD_SIZE = 4, 4, 32


def write_model(folder):
    config = {
        "architectures": ["LlamaForCausalLM"],
        "model_type": "llama",
        "hidden_size": 256,
        "intermediate_size": 512,
        "num_hidden_layers": LAYERS,
        "num_attention_heads": 8,
        "num_key_value_heads": KV_HEADS,
        "head_dim": HEAD_SIZE,
        "vocab_size": 512,
        "max_position_embeddings": 4096,
        "torch_dtype": "float32",
    }
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "config.json").write_text(json.dumps(config))


def write_plan(folder, spec):
    plan = {
        "schema": 1,
        "model": str(folder),
        "engine": {"name": "vllm", "versions": [__version__.split("+")[0]]},
        "parallel": {"tp": 1, "pp": 1, "dp": 1},
        "dtype": "float32",
        "kv_cache_dtype": "auto",
        "block_size": BLOCK_TOKENS,
        "bytes_per_block": LAYERS * spec.page_size_bytes,
        "num_blocks": BLOCKS,
        "usable_blocks": BLOCKS - 1,
        "max_model_len": 4096,
        "max_num_seqs": REQUESTS,
        "admission": {"mode": "strict", "max_pending": 0, "max_hold_seconds": 0, "tenants": []},
    }
    path = folder / "plan.json"
    path.write_text(json.dumps(plan))
    return str(path)


def tensors(spec, layers):
    page = spec.page_size_bytes
    fields = {field.name for field in dataclasses.fields(KVCacheTensor)}
    if "layer_stride" not in fields:  # before 0.29
        return [KVCacheTensor(size=page * BLOCKS, shared_by=[name]) for name in layers]
    size = page * BLOCKS * len(layers)
    return [KVCacheTensor(size=size, layers=layers, layer_stride=page * BLOCKS, block_stride=page)]


def make(scheduler_class, config, cache):
    config.cache_config.num_gpu_blocks = BLOCKS
    return scheduler_class(
        vllm_config=config,
        kv_cache_config=cache,
        structured_output_manager=StructuredOutputManager(config),
        block_size=BLOCK_TOKENS,
        log_stats=True,
    )


def add_requests(schedulers):
    """In turn, so that those of one do not lie together in memory and those of the other apart."""
    for i in range(REQUESTS):
        tokens = [3 + (i * 7 + j) % 500 for j in range(PROMPT_TOKENS)]
        sampling = SamplingParams(max_tokens=OUTPUT_TOKENS, ignore_eos=True)
        for scheduler in schedulers:
            scheduler.add_request(Request(f"{i}", list(tokens), sampling, None))


def step(scheduler):
    """Seconds of CPU time that the scheduler itself took."""
    started = time.thread_time()
    output = scheduler.schedule()
    seconds = time.thread_time() - started
    names = list(output.num_scheduled_tokens)
    sampled = [
        [7] if scheduler.requests[n].num_computed_tokens >= PROMPT_TOKENS else [] for n in names
    ]
    result = ModelRunnerOutput(names, {n: i for i, n in enumerate(names)}, sampled)
    started = time.thread_time()
    scheduler.update_from_output(output, result)
    return seconds + time.thread_time() - started


def main(folder):
    ledger_bench.main()
    write_model(folder)
    spec = FullAttentionSpec(
        block_size=BLOCK_TOKENS, num_kv_heads=KV_HEADS, head_size=HEAD_SIZE, dtype=torch.float32
    )
    layers = [f"layer{i}" for i in range(LAYERS)]
    cache = KVCacheConfig(
        num_blocks=BLOCKS,
        kv_cache_tensors=tensors(spec, layers),
        kv_cache_groups=[KVCacheGroupSpec(layers, spec)],
    )
    setting = {"plan": write_plan(folder, spec), "share": "/kvbudget-step-bench"}
    config = EngineArgs(
        model=str(folder),
        skip_tokenizer_init=True,
        dtype="float32",
        max_model_len=4096,
        max_num_seqs=REQUESTS,
        block_size=BLOCK_TOKENS,
        num_gpu_blocks_override=BLOCKS,
        enable_prefix_caching=False,
        additional_config={"kvbudget": setting},
    ).create_engine_config()
    base = AsyncScheduler if config.scheduler_config.async_scheduling else Scheduler
    stock = make(base, config, cache)
    guarded = make(kvbudget.vllm.make_scheduler, config, cache)
    add_requests((stock, guarded))
    gc.collect()
    gc.freeze()  # as the engine does when it has started
    pairs = []
    for number in range(WARM_UP + STEPS):
        order = (stock, guarded) if number % 2 == 0 else (guarded, stock)
        seconds = {scheduler: step(scheduler) for scheduler in order}
        if number >= WARM_UP:
            pairs.append((seconds[stock], seconds[guarded]))
    assert len(guarded.running) == len(stock.running) == REQUESTS
    base = statistics.median(s for s, _ in pairs)
    added = sorted(g - s for s, g in pairs)
    middle = added[STEPS // 10 : -STEPS // 10]  # without what else the machine did
    share = statistics.fmean(middle) / STEP_SECONDS
    print(
        f"a step of {REQUESTS} running requests takes the stock scheduler {base * 1e6:.0f} us of CPU time; "
        f"the budget adds {statistics.median(added) * 1e6:.0f} us in the median, "
        f"{statistics.fmean(middle) * 1e6:.0f} us in the mean of the middle 80 %: {share:.2%} of a step of "
        f"{STEP_SECONDS * 1e3:.0f} ms"
    )
    guarded.shutdown()


if __name__ == "__main__":
    main(pathlib.Path(sys.argv[1]))
