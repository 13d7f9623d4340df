"""The scheduler inside a real engine, on the CPU: nothing is preempted where the stock one preempts,
the answers are the same, and the account is exact at every step.

    engine_test.py FOLDER    a folder for the model and the plans

One process, engines one after the other; tokens are compared in float32, since another order of
sums changes them in bfloat16. The burst of requests is one that outgrows the pool: 16 requests of 60
prompt and 192 output tokens need 8 blocks of 32 tokens each, 128 together, of 32.
"""

import gc
import json
import os
import pathlib
import sys
import unittest

os.environ |= {
    "HF_HUB_OFFLINE": "1",
    "VLLM_NO_USAGE_STATS": "1",
    "VLLM_ENABLE_V1_MULTIPROCESSING": "0",  # the scheduler is to be looked at
    "VLLM_CPU_OMP_THREADS_BIND": "nobind",
    "OMP_NUM_THREADS": "1",
}

import model  # noqa: E402
from vllm import LLM, SamplingParams, __version__  # noqa: E402
from vllm.distributed import cleanup_dist_env_and_memory  # noqa: E402

FOLDER = pathlib.Path(sys.argv.pop(1) if len(sys.argv) > 1 else "build/serving")
BLOCK_TOKENS, BLOCKS, USABLE = 32, 33, 24  # block 0 is the null block; the budget is less than the pool
MAX_MODEL_LEN, MAX_NUM_SEQS = 1024, 64
REQUESTS, OUTPUT_TOKENS = 16, 192
STOCK_PREEMPTIONS = 23  # seen with 0.28 and 0.32


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


def engine(setting=None, **arguments):
    if setting is not None:
        arguments["scheduler_cls"] = "kvbudget.vllm.make_scheduler"
        arguments["additional_config"] = {"kvbudget": setting}
    return LLM(
        model=str(FOLDER / "model"),
        dtype="float32",
        max_model_len=MAX_MODEL_LEN,
        max_num_seqs=MAX_NUM_SEQS,
        block_size=BLOCK_TOKENS,
        num_gpu_blocks_override=BLOCKS,
        kv_cache_memory_bytes=64 << 20,
        enforce_eager=True,
        enable_prefix_caching=False,
        disable_log_stats=False,
        **arguments,
    )


def planned_engine(name, changes=None, setting=None, **arguments):
    path = FOLDER / f"{name}.json"
    path.write_text(json.dumps(plan(**(changes or {}))))
    return engine({"plan": str(path), "audit": True} | (setting or {}), **arguments)


def scheduler_of(llm):
    return llm.llm_engine.engine_core.engine_core.scheduler


def prompt(i, tokens=60):
    return {"prompt_token_ids": [6 + (i * 7 + j) % 250 for j in range(tokens)]}


def sampling(max_tokens=OUTPUT_TOKENS):
    return SamplingParams(temperature=0, max_tokens=max_tokens, ignore_eos=True)


def burst(llm):
    """The tokens of each answer, and how many preemptions they took."""
    outputs = llm.generate(
        [prompt(i) for i in range(REQUESTS)], [sampling()] * REQUESTS, use_tqdm=False
    )
    values = {m.name: m.value for m in llm.get_metrics() if hasattr(m, "value")}
    return [list(o.outputs[0].token_ids) for o in outputs], values["vllm:num_preemptions"]


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


class EngineTest(unittest.TestCase):
    stock_tokens = None

    @classmethod
    def setUpClass(cls):
        model.make(FOLDER / "model")
        llm = engine()
        try:
            cls.stock_tokens, cls.stock_preemptions = burst(llm)
        finally:
            cls.close(llm)

    @staticmethod
    def close(llm):
        llm.llm_engine.engine_core.shutdown()
        del llm
        gc.collect()
        cleanup_dist_env_and_memory()

    def start(self, start, *arguments, **settings):
        llm = start(*arguments, **settings)
        self.addCleanup(self.close, llm)
        return llm, scheduler_of(llm)

    def assert_idle(self, scheduler):
        scheduler.schedule()  # what has finished since is settled at a step
        statistics = scheduler.kvb.statistics()
        self.assertEqual((statistics["admitted"], statistics["pending"]), (0, 0))
        self.assertEqual(statistics["reserved_blocks"], 0)
        self.assertEqual(scheduler.kvb.held_requests, 0)

    def test_strict_mode_never_preempts_and_changes_no_token(self):
        self.assertEqual(self.stock_preemptions, STOCK_PREEMPTIONS)
        llm, scheduler = self.start(planned_engine, "strict")
        watched = self.watch(scheduler)
        tokens, preemptions = burst(llm)
        self.assertEqual(preemptions, 0)
        self.assertEqual(scheduler.kvb.preemptions, 0)
        self.assertEqual(tokens, self.stock_tokens)
        self.assertGreater(scheduler.kvb.statistics()["held_total"], 0)
        self.assertLessEqual(scheduler.kvb.statistics()["peak_reserved_blocks"], USABLE)
        self.assertGreater(len(watched), OUTPUT_TOKENS)
        self.assertEqual(scheduler.kvb_drift_blocks, 0)
        self.assertEqual([w for w in watched if w], [])
        self.assert_idle(scheduler)
        self.abort_held_and_running(llm, scheduler)
        self.reject_what_never_fits(llm, scheduler)

    def watch(self, scheduler):
        """For each step, the requests that hold more blocks than are reserved for them."""
        watched = []
        update = scheduler.update_from_output

        def looking(*arguments, **settings):
            held = {i: scheduler.kv_cache_manager.get_block_ids(i) for i in scheduler.requests}
            watched.append(
                [
                    i
                    for i, groups in held.items()
                    if sum(map(len, groups)) > scheduler.kvb.reserved_for(i)
                ]
            )
            return update(*arguments, **settings)

        scheduler.update_from_output = looking
        self.addCleanup(delattr, scheduler, "update_from_output")
        return watched

    def abort_held_and_running(self, llm, scheduler):
        ids = [f"r{i}" for i in range(6)]
        for i, name in enumerate(ids):
            llm.llm_engine.add_request(name, prompt(i), sampling())
        run(llm, until=lambda: len(scheduler.running) == 3)
        self.assertEqual(scheduler.kvb.held_requests, 3)
        self.assertEqual(scheduler.get_request_counts(), (3, 3))
        llm.llm_engine.abort_request(["r1", "r5"])
        self.assertEqual(scheduler.kvb.held_requests, 2)
        finished = run(llm)
        self.assertEqual(sorted(finished), ["r0", "r2", "r3", "r4"])
        for i in (0, 2, 3, 4):
            self.assertEqual(list(finished[f"r{i}"].token_ids), self.stock_tokens[i])
        self.assert_idle(scheduler)
        for name in ids[:4]:
            llm.llm_engine.add_request(name, prompt(0), sampling())
        llm.llm_engine.step()
        llm.llm_engine.abort_request(ids[:4])
        self.assertFalse(llm.llm_engine.has_unfinished_requests())
        self.assert_idle(scheduler)
        self.assertEqual(scheduler.kvb_drift_blocks, 0)

    def reject_what_never_fits(self, llm, scheduler):
        """It is told at once, also by an idle engine, and nobody waits behind it."""
        tokens = MAX_MODEL_LEN - 100
        llm.llm_engine.add_request("never", prompt(0, 100), sampling(tokens))
        answer = run(llm)["never"]
        self.assertEqual(answer.finish_reason, "error")
        self.assertIn("100 prompt tokens and up to 924 more need 32 KV blocks", answer.stop_reason)
        self.assertIn(f"the budget is {USABLE}", answer.stop_reason)
        llm.llm_engine.add_request("never again", prompt(0, 100), sampling(tokens))
        llm.llm_engine.add_request("fits", prompt(0), sampling())
        finished = run(llm)
        self.assertEqual(finished["never again"].finish_reason, "error")
        self.assertEqual(list(finished["fits"].token_ids), self.stock_tokens[0])
        self.assert_idle(scheduler)

    def test_observe_mode_changes_nothing_and_says_what_strict_would_do(self):
        llm, scheduler = self.start(engine, {})
        tokens, preemptions = burst(llm)
        self.assertEqual((tokens, preemptions), (self.stock_tokens, STOCK_PREEMPTIONS))
        statistics = scheduler.kvb.statistics()
        self.assertEqual(statistics["preemptions"], STOCK_PREEMPTIONS)
        self.assertEqual(statistics["would_hold"], REQUESTS - 4)  # 4 lives of 8 blocks fit
        self.assertEqual(statistics["peak_needed_blocks"], REQUESTS * 8)
        self.assert_idle(scheduler)

    def test_zz_an_engine_that_is_not_the_plans_does_not_start(self):
        with self.assertRaisesRegex(ValueError, "the plan says 65, the engine has 33.*override 65"):
            planned_engine("other", {"num_blocks": 65})


if __name__ == "__main__":
    unittest.main(verbosity=2)
