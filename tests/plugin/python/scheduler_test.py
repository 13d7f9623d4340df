"""The mixin over a fake scheduler: who goes, who waits, who is told that they never will."""

import json
import pathlib
import random
import tempfile
import unittest

import fakes
from kvbudget.vllm.scheduler import BudgetMixin

FINISHED_ABORTED = fakes.RequestStatus.FINISHED_ABORTED


class Guarded(BudgetMixin, fakes.Scheduler):
    engine_version = "0.32.0"
    engine_types = fakes.ENGINE_TYPES


def start(setting=None, changes=None, specs=(fakes.FullAttentionSpec(),), blocks=11, **parallel):
    """With a plan unless `changes` is False."""
    with tempfile.TemporaryDirectory() as folder:
        setting = dict(setting or {})
        if changes is not False:
            path = pathlib.Path(folder) / "plan.json"
            path.write_text(json.dumps(fakes.plan(**(changes or {}))))
            setting["plan"] = str(path)
        return Guarded(
            vllm_config=fakes.vllm_config(setting, **parallel),
            kv_cache_config=fakes.kv_cache_config(blocks, specs),
            block_size=16,
        )


def step(scheduler):
    return scheduler.update_from_output(scheduler.schedule(throttle_prefills=False), None)


def run(scheduler):
    steps = 0
    while scheduler.get_num_unfinished_requests():
        step(scheduler)
        steps += 1
    return steps


class SchedulerTest(unittest.TestCase):
    def add(self, scheduler, *names, **fields):
        for name in names:
            scheduler.add_request(fakes.request(name, **fields))

    def test_requests_that_do_not_fit_wait_in_order(self):
        scheduler = start()
        self.add(scheduler, *"abcdefg")  # two blocks each, of ten
        self.assertEqual(list(scheduler.requests), list("abcde"))
        self.assertEqual(scheduler.kvb.held_requests, 2)
        scheduler.finish_requests("a", FINISHED_ABORTED)
        step(scheduler)
        self.assertEqual(list(scheduler.requests), list("bcdef"))

    def test_held_requests_count_as_waiting(self):
        scheduler = start()
        self.add(scheduler, *"abcdefg")
        self.assertEqual(scheduler.get_request_counts(), (0, 7))
        self.assertEqual(scheduler.get_num_unfinished_requests(), 7)
        self.assertEqual(scheduler.make_stats().num_waiting_reqs, 7)

    def test_nothing_is_promoted_while_the_engine_pauses(self):
        scheduler = start()
        self.add(scheduler, *"abcdef")
        scheduler.pause_state = fakes.PauseState.PAUSED_NEW
        scheduler.finish_requests("a", FINISHED_ABORTED)
        step(scheduler)
        self.assertNotIn("f", scheduler.requests)
        self.assertEqual(scheduler.get_num_unfinished_requests(), 4)
        scheduler.pause_state = fakes.PauseState.UNPAUSED
        step(scheduler)
        self.assertIn("f", scheduler.requests)

    def test_a_held_request_is_aborted_like_any_other(self):
        scheduler = start()
        self.add(scheduler, *"abcdefg")
        gone = scheduler.finish_requests(iter(["a", "f", "unknown"]), FINISHED_ABORTED)
        self.assertEqual(sorted(r.request_id for r in gone), ["a", "f"])
        self.assertEqual(scheduler.kvb.held_requests, 1)
        self.assertEqual(scheduler.schedule().finished_req_ids, {"a", "f"})
        self.assertEqual(list(scheduler.requests), list("bcdeg"))

    def test_all_requests_are_aborted_together(self):
        scheduler = start()
        self.add(scheduler, *"abcdefg")
        self.assertEqual(len(scheduler.finish_requests(None, FINISHED_ABORTED)), 7)
        self.assertEqual(scheduler.get_num_unfinished_requests(), 0)
        scheduler.schedule()
        statistics = scheduler.kvb.statistics()
        self.assertEqual((statistics["admitted"], statistics["pending"]), (0, 0))

    def test_a_request_that_never_fits_is_told_so_with_the_next_outputs(self):
        scheduler = start()
        self.add(scheduler, "never", prompt=100, output=100)
        outputs = step(scheduler)[0].outputs
        self.assertEqual([o.request_id for o in outputs], ["never"])
        self.assertEqual(outputs[0].finish_reason, fakes.FinishReason.ERROR)
        self.assertEqual(
            outputs[0].stop_reason,
            "kvbudget: above_budget: 100 prompt tokens and up to 100 more need 13 KV blocks, "
            "the budget is 10",
        )
        self.assertEqual(step(scheduler), {})

    def test_who_has_waited_too_long_is_told_so(self):
        scheduler = start(changes={"admission": {"mode": "strict", "max_hold_seconds": 5}})
        now = [0.0]
        scheduler.kvb._now = lambda: now[0]
        self.add(scheduler, *"abcdef")
        now[0] = 6.0
        outputs = step(scheduler)[0].outputs
        self.assertEqual([o.request_id for o in outputs], ["f"])
        self.assertIn("held_too_long", outputs[0].stop_reason)

    def test_more_requests_than_max_pending_are_refused(self):
        scheduler = start(changes={"admission": {"mode": "strict", "max_pending": 1}})
        self.add(scheduler, *"abcdefg")
        self.assertIn("pending_full", step(scheduler)[0].outputs[0].stop_reason)

    def test_a_session_keeps_its_whole_context_and_what_follows_it(self):
        scheduler = start(changes={"num_blocks": 41, "usable_blocks": 40}, blocks=41)
        self.add(scheduler, *"abc", resumable=True)
        self.assertEqual(list(scheduler.requests), ["a", "b"])  # 16 blocks each
        self.add(scheduler, "c", resumable=True)
        self.assertEqual(scheduler.kvb.held_requests, 1)
        self.assertEqual([r.request_id for r in scheduler.kvb.take_held("c")], ["c"])

    def test_late_frees_are_not_promised_to_anyone(self):
        scheduler = start({"audit": True})
        self.add(scheduler, *"abcdef")
        step(scheduler)
        scheduler.finish_requests("a", FINISHED_ABORTED)
        scheduler.kv_cache_manager.late = 2
        scheduler.connector = object()
        step(scheduler)
        self.assertNotIn("f", scheduler.requests)
        self.assertEqual(scheduler.kvb_drift_blocks, 2)
        scheduler.kv_cache_manager.late = 0
        step(scheduler)
        self.assertIn("f", scheduler.requests)

    def test_random_loads_never_find_the_pool_empty(self):
        """The fake raises when they do."""
        draw = random.Random(7)
        for _ in range(30):
            scheduler = start({"audit": True})
            for name in range(40):
                prompt, output = draw.randint(1, 90), draw.randint(1, 90)
                self.add(scheduler, f"{name}", prompt=prompt, output=output)
                for _ in range(draw.randint(0, 9)):
                    step(scheduler)
                if draw.random() < 0.2:
                    scheduler.finish_requests(str(draw.randint(0, name)), FINISHED_ABORTED)
            run(scheduler)
            self.assertEqual(scheduler.kvb_drift_blocks, 0)
            scheduler.schedule()
            self.assertEqual(scheduler.kvb.statistics()["reserved_blocks"], 0)

    def test_observe_mode_lets_all_pass_and_counts(self):
        scheduler = start(changes=False)
        self.add(scheduler, *"abcdefg")
        self.add(scheduler, "never", prompt=100, output=100)
        self.assertEqual(len(scheduler.requests), 8)
        statistics = scheduler.kvb.statistics()
        self.assertEqual(statistics["would_hold"], 2)
        self.assertEqual(statistics["would_reject"], 1)
        self.assertEqual(statistics["peak_needed_blocks"], 7 * 2 + 13)
        scheduler.finish_requests(None, FINISHED_ABORTED)
        step(scheduler)
        self.assertEqual(scheduler.kvb.needed_blocks, 0)
        self.assertEqual(scheduler.kvb.statistics()["admitted"], 0)

    def test_optimistic_mode_reserves_what_answers_really_take(self):
        scheduler = start(changes={"admission": {"mode": "optimistic"}})
        for name in range(40):  # ask for 100 tokens, stop after 5
            request = fakes.request(f"{name}", prompt=10, output=100)
            scheduler.add_request(request)
            request.num_output_tokens = 5
            scheduler.finish_requests(request.request_id, FINISHED_ABORTED)
            step(scheduler)
        self.add(scheduler, "short", prompt=10, output=100)
        self.assertEqual(scheduler.kvb.reserved_for("short"), 1)
        scheduler.requests["short"].num_output_tokens = 20
        step(scheduler)
        self.assertEqual(scheduler.kvb.reserved_for("short"), 3)

    def test_what_is_held_is_judged_anew_when_it_goes(self):
        scheduler = start(changes={"admission": {"mode": "optimistic"}})
        for name in range(31):  # one answer too few to be believed
            request = fakes.request(f"{name}", prompt=10, output=100)
            scheduler.add_request(request)
            request.num_output_tokens = 5
            scheduler.finish_requests(request.request_id, FINISHED_ABORTED)
            step(scheduler)
        names = [f"long{i}" for i in range(12)]
        self.add(scheduler, *names, prompt=10, output=100)  # seven blocks each, of ten
        self.assertEqual(list(scheduler.requests), names[:1])
        scheduler.requests[names[0]].num_output_tokens = 5
        scheduler.finish_requests(names[0], FINISHED_ABORTED)
        step(scheduler)
        self.assertEqual(list(scheduler.requests), names[1:11])  # one block each now
        self.assertEqual(scheduler.kvb.reserved_for(names[1]), 1)

    def test_an_id_that_comes_back_is_charged_once(self):
        scheduler = start()
        self.add(scheduler, *"abcde")
        scheduler.finish_requests("a", FINISHED_ABORTED)
        self.add(scheduler, "a")  # before the step that settles the first
        step(scheduler)
        self.assertEqual(scheduler.kvb.statistics()["reserved_blocks"], 10)
        self.assertEqual(scheduler.kvb.reserved_for("a"), 2)
        scheduler.finish_requests("a", FINISHED_ABORTED)
        self.add(scheduler, "a")
        scheduler.finish_requests("a", FINISHED_ABORTED)  # twice before a step
        step(scheduler)
        self.assertEqual(scheduler.kvb.statistics()["reserved_blocks"], 8)
        run(scheduler)
        step(scheduler)
        self.assertEqual(scheduler.kvb.statistics()["reserved_blocks"], 0)

    def test_an_id_that_comes_back_may_be_held(self):
        scheduler = start()
        self.add(scheduler, *"abcdef")
        scheduler.finish_requests("a", FINISHED_ABORTED)
        self.add(scheduler, "a")  # behind f
        step(scheduler)
        self.assertEqual(sorted(scheduler.requests), list("bcdef"))
        self.assertTrue(scheduler.kvb.is_held("a"))
        run(scheduler)
        step(scheduler)
        self.assertEqual(scheduler.kvb.statistics()["reserved_blocks"], 0)

    def test_of_two_requests_with_one_id_the_held_one_is_kept(self):
        scheduler = start()
        self.add(scheduler, *"abcdef")
        with self.assertLogs("vllm.kvbudget", "WARNING"):
            self.add(scheduler, "f")
        self.assertEqual(scheduler.kvb.statistics()["pending"], 1)
        scheduler.finish_requests("a", FINISHED_ABORTED)
        step(scheduler)  # the fake raises for a duplicate
        self.assertIn("f", scheduler.requests)
        self.assertEqual(scheduler.kvb.statistics()["reserved_blocks"], 10)

    def test_each_answer_of_several_and_each_pooling_request_is_charged(self):
        scheduler = start()
        self.add(scheduler, "0_parent", "1_parent", "2_parent")  # what the engine makes of n = 3
        self.assertEqual(scheduler.kvb.statistics()["reserved_blocks"], 6)
        self.add(scheduler, "pooled", prompt=40, output=1, sampling_params=None)
        self.assertEqual(scheduler.kvb.reserved_for("pooled"), 3)

    def test_an_engine_without_a_cache_admits_all(self):
        scheduler = start(specs=())
        self.add(scheduler, "a", prompt=100, output=100)
        self.assertIn("a", scheduler.requests)

    def test_tenants_are_named_by_the_request(self):
        tenants = [{"name": "a", "max_blocks": 2}, {"name": "b"}]
        scheduler = start(changes={"admission": {"mode": "strict", "tenants": tenants}})
        extra = fakes.SimpleNamespace(extra_args={"kvbudget_tenant": "a"})
        self.add(scheduler, "a1", "a2", sampling_params=extra)
        self.add(scheduler, "b1", lora_request=fakes.SimpleNamespace(lora_name="b"))
        self.add(scheduler, "c1", sampling_params=None)
        step(scheduler)  # others do not wait behind a tenant at its maximum
        self.assertEqual(sorted(scheduler.requests), ["a1", "b1", "c1"])

    def test_an_unknown_kind_of_cache_is_refused_in_strict_mode_alone(self):
        specs = (fakes.FullAttentionSpec(), fakes.RingSpec())
        with self.assertRaisesRegex(ValueError, "class RingSpec are not modelled"):
            start(specs=specs)
        self.add(start({"mode": "optimistic"}, specs=specs), "a")

    def test_context_parallelism_is_refused_in_strict_mode(self):
        with self.assertRaisesRegex(ValueError, "--decode-context-parallel-size 2 is not modelled"):
            start(decode_context_parallel_size=2)

    def test_each_kind_of_group_counts_as_it_grows(self):
        window, state = fakes.SlidingWindowSpec(), fakes.MambaSpec()
        cases = [
            ((fakes.FullAttentionSpec(),), 14),  # of 112 + 100 + 1 tokens
            ((window,), 12),  # 128 in flight, and 4
            ((state,), 1),
            ((fakes.FullAttentionSpec(), window, state), 27),
            ((fakes.UniformTypeKVCacheSpecs(window, window),), 12),
        ]
        for specs, blocks in cases:
            with self.subTest(specs=[type(s).__name__ for s in specs]):
                scheduler = start(changes=False, specs=specs, blocks=100)
                request = fakes.request("a", prompt=112)
                self.assertEqual(scheduler.kvb.blocks_needed(request, 100), blocks)

    def test_an_engine_with_fewer_usable_blocks_than_planned_does_not_start(self):
        with self.assertRaisesRegex(ValueError, "the plan has 11 usable_blocks, the engine 10"):
            start(changes={"usable_blocks": 11})

    def test_shutdown_reaches_the_engine(self):
        scheduler = start()
        with self.assertLogs("vllm.kvbudget", "INFO") as logs:
            scheduler.shutdown()
        self.assertIn("strict: 0 requests admitted", logs.output[0])
        self.assertTrue(scheduler.has_shut_down)


if __name__ == "__main__":
    unittest.main()
