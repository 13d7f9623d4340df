"""What an admission costs, and what the budget adds to a scheduler step of a real vLLM.

The step is compared with the stock scheduler's. No model runs: it is schedule() and
update_from_output() with tokens made up here. Both schedulers serve the same 256 requests and take
their steps in turn, in one process; CPU time is compared pair by pair, so that a busy machine disturbs
little. Model and plan are those of the tests."""

import dataclasses
import gc
import statistics
import time

import engine
import kvbudget.vllm
import ledger_bench
import model
import torch
from vllm import SamplingParams
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
MAX_MODEL_LEN = 4096


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


def main():
    ledger_bench.main()
    folder = engine.FOLDER / "model"
    model.make(folder)
    spec = FullAttentionSpec(
        block_size=BLOCK_TOKENS,
        num_kv_heads=model.CONFIG["num_key_value_heads"],
        head_size=model.CONFIG["head_dim"],
        dtype=torch.float32,
    )
    layers = [f"layer{i}" for i in range(model.CONFIG["num_hidden_layers"])]
    cache = KVCacheConfig(
        num_blocks=BLOCKS,
        kv_cache_tensors=tensors(spec, layers),
        kv_cache_groups=[KVCacheGroupSpec(layers, spec)],
    )
    plan = engine.write_plan(
        block_size=BLOCK_TOKENS,
        bytes_per_block=len(layers) * spec.page_size_bytes,
        num_blocks=BLOCKS,
        usable_blocks=BLOCKS - 1,
        max_model_len=MAX_MODEL_LEN,
        max_num_seqs=REQUESTS,
    )
    setting = {"plan": plan, "share": "/kvbudget-step-bench"}
    config = EngineArgs(
        model=str(folder),
        skip_tokenizer_init=True,
        dtype="float32",
        max_model_len=MAX_MODEL_LEN,
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
    main()
