"""Engines, plans and the burst that the tests share.

The burst outgrows the pool: 16 requests of 60 prompt and 192 output tokens need 8 blocks of 32
tokens each, 128 together, of 32. vLLM 0.28 and 0.32 preempt 23 times over it.
"""

import contextlib
import dataclasses
import gc
import json
import os
import pathlib

import kvbudget.vllm
from vllm import LLM, SamplingParams, __version__
from vllm.distributed import cleanup_dist_env_and_memory

FOLDER = pathlib.Path(os.environ.get("KVB_SERVING_FOLDER", "build/serving")).resolve()
BLOCK_TOKENS, BLOCKS = 32, 33
USABLE = BLOCKS - 1  # block 0 is the null block
MAX_MODEL_LEN, MAX_NUM_SEQS = 1024, 64
REQUESTS, PROMPT_TOKENS, OUTPUT_TOKENS = 16, 60, 192
LIFE_BLOCKS = 8
STOCK_PREEMPTIONS = 23

figures = []  # lines for the end of the run


def plan(**changes):
    """As `kvbudget plan` writes it, for the engine below."""
    layers, kv_heads, head_size, float32_bytes = 4, 4, 32, 4
    return {
        "schema": 1,
        "model": str(FOLDER / "model"),
        "engine": {"name": "vllm", "versions": [__version__.split("+")[0]]},
        "parallel": {"tp": 1, "pp": 1, "dp": 1},
        "dtype": "float32",
        "kv_cache_dtype": "auto",
        "block_size": BLOCK_TOKENS,
        "bytes_per_block": layers * 2 * kv_heads * head_size * float32_bytes * BLOCK_TOKENS,
        "num_blocks": BLOCKS,
        "usable_blocks": USABLE,
        "max_model_len": MAX_MODEL_LEN,
        "max_num_seqs": MAX_NUM_SEQS,
        "admission": {"mode": "strict", "max_pending": 0, "max_hold_seconds": 0, "tenants": []},
    } | changes


def write_plan(**changes):
    path = FOLDER / "plan.json"
    path.write_text(json.dumps(plan(**changes)))
    return str(path)


@contextlib.contextmanager
def stock(**arguments):
    llm = None
    try:
        llm = LLM(
            **{
                "model": str(FOLDER / "model"),
                "dtype": "float32",
                "max_model_len": MAX_MODEL_LEN,
                "max_num_seqs": MAX_NUM_SEQS,
                "block_size": BLOCK_TOKENS,
                "num_gpu_blocks_override": BLOCKS,
                "kv_cache_memory_bytes": 64 << 20,
                "enforce_eager": True,
                "enable_prefix_caching": False,
                "disable_log_stats": False,
            }
            | arguments
        )
        yield llm
    finally:
        if llm is not None:
            llm.llm_engine.engine_core.shutdown()
        del llm
        gc.collect()
        cleanup_dist_env_and_memory()


made_with = {}  # the arguments of the newest guarded scheduler


def make_scheduler(**arguments):
    """kvbudget's, under a name of the tests, with its arguments kept."""
    made_with.clear()
    made_with.update(arguments)
    return kvbudget.vllm.make_scheduler(**arguments)


def guarded(setting=None, **arguments):
    additional = {"kvbudget": {"share": False} | (setting or {})}
    return stock(scheduler_cls="engine.make_scheduler", additional_config=additional, **arguments)


def strict(changes=None, setting=None, **arguments):
    """Guarded by a plan with these changes; every step is audited."""
    setting = {"plan": write_plan(**(changes or {})), "audit": True} | (setting or {})
    return guarded(setting, **arguments)


def scheduler_of(llm):
    return llm.llm_engine.engine_core.engine_core.scheduler


def prompt(i, tokens=PROMPT_TOKENS):
    return {"prompt_token_ids": [6 + (i * 7 + j) % 250 for j in range(tokens)]}


def shared_prefix_prompt(i, shared=BLOCK_TOKENS + 8):
    """All begin alike, for more than a block."""
    first, own = (prompt(k)["prompt_token_ids"] for k in (0, i))
    return {"prompt_token_ids": first[:shared] + own[shared:]}


def sampling(max_tokens=OUTPUT_TOKENS, **arguments):
    defaults = {"temperature": 0, "max_tokens": max_tokens, "ignore_eos": True}
    return SamplingParams(**(defaults | arguments))


@dataclasses.dataclass
class Burst:
    tokens: list
    preemptions: int


def metric(llm, name):
    return {m.name: m.value for m in llm.get_metrics() if hasattr(m, "value")}[name]


def burst(llm, prompt_of=prompt, **arguments):
    """The tokens of each answer, and how many preemptions they took."""
    before = metric(llm, "vllm:num_preemptions")
    outputs = llm.generate(
        [prompt_of(i) for i in range(REQUESTS)],
        [sampling()] * REQUESTS,
        use_tqdm=False,
        **arguments,
    )
    tokens = [list(o.outputs[0].token_ids) for o in outputs]
    return Burst(tokens, metric(llm, "vllm:num_preemptions") - before)


def add(llm, name, i=0, tokens=PROMPT_TOKENS, max_tokens=OUTPUT_TOKENS, **arguments):
    """Request `i` of the burst, unless it is to be longer."""
    llm.llm_engine.add_request(name, prompt(i, tokens), sampling(max_tokens, **arguments))


def run(llm, until=None):
    """Steps until nothing is left, or `until` holds; the finished outputs by id."""
    finished = {}
    while llm.llm_engine.has_unfinished_requests():
        for output in llm.llm_engine.step():
            if output.finished:
                finished[output.request_id] = output.outputs[0]
        if until and until():
            break
    return finished


def assert_idle(llm):
    scheduler = scheduler_of(llm)
    scheduler.schedule()  # what has finished since is settled at a step
    statistics = scheduler.kvb.statistics()
    assert (statistics["admitted"], statistics["pending"]) == (0, 0)
    assert statistics["reserved_blocks"] == 0
    assert scheduler.kvb.held_requests == 0
    pool = scheduler.kv_cache_manager.block_pool
    assert pool.get_num_free_blocks() == USABLE


class Watch:
    """Looks at every step of a guarded engine from outside: the distinct blocks of its requests are
    the ones that its pool has given away, and nobody holds more than is reserved."""

    def __init__(self, llm):
        self.scheduler = scheduler_of(llm)
        self.steps = 0
        self.differences = []
        self.outgrown = []
        schedule = self.scheduler.schedule

        def looking(*arguments, **settings):
            output = schedule(*arguments, **settings)
            self._look()
            return output

        self.scheduler.schedule = looking

    def _look(self):
        manager, kvb = self.scheduler.kv_cache_manager, self.scheduler.kvb
        self.steps += 1
        distinct = set()
        for name in self.scheduler.requests:
            groups = manager.get_block_ids(name)
            distinct.update(block for group in groups for block in group)
            if sum(map(len, groups)) > kvb.reserved_for(name):
                self.outgrown.append((self.steps, name))
        distinct.discard(manager.block_pool.null_block.block_id)
        used = kvb.pool.capacity_blocks - manager.block_pool.get_num_free_blocks()
        if used != len(distinct):
            self.differences.append((self.steps, used, len(distinct)))

    def check(self):
        assert self.steps > 0
        assert self.differences == []
        assert self.outgrown == []
        assert self.scheduler.kvb_drift_blocks == 0
        statistics = self.scheduler.kvb.statistics()
        assert statistics["peak_reserved_blocks"] <= self.scheduler.kvb.pool.budget_blocks
        assert statistics["late_blocks"] == 0
