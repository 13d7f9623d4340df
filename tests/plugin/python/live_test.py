"""What changes while the engine runs: the budget and tenants of a file. And who a request belongs to."""

import json
import os
import pathlib
import tempfile
import unittest
from types import SimpleNamespace

import fakes
from kvbudget.vllm import front, live, report, segment, tenants
from front_test import arrived
from metrics_test import start
from scheduler_test import FINISHED_ABORTED, step


class BudgetFileTest(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.path = pathlib.Path(folder.name) / "budget.json"
        self.now = 0.0
        self.writes = 0

    def write(self, content):
        self.path.write_text(content if isinstance(content, str) else json.dumps(content))
        self.writes += 1
        os.utime(self.path, (self.writes, self.writes))
        self.now += 1.0

    def start(self, **fields):
        self.scheduler = start({"budget_file": str(self.path)}, **fields)
        self.addCleanup(self.scheduler.shutdown)
        self.scheduler._kvb_file._now = lambda: self.now
        self.scheduler._kvb_file._next = 0.0
        self.now = 10.0
        return self.scheduler

    def add(self, *names, tenant=None, **fields):
        for name in names:
            extra = {"kvbudget_tenant": tenant} if tenant else None
            parameters = SimpleNamespace(extra_args=extra)
            self.scheduler.add_request(fakes.request(name, sampling_params=parameters, **fields))

    def test_a_smaller_budget_holds_and_refuses_and_takes_nothing_away(self):
        scheduler = self.start(admission={"tenants": []})
        self.add(*"abcd")
        self.write({"budget_blocks": 4})
        step(scheduler)
        self.add("e")
        self.add("large", prompt=80, output=15)
        outputs = step(scheduler)[0].outputs
        self.assertEqual([o.request_id for o in outputs], ["large"])
        self.assertIn("the budget is 4", outputs[0].stop_reason)
        self.assertEqual(sorted(scheduler.requests), list("abcd"))
        self.assertEqual(segment.read()[0]["budget_blocks"], 4)
        scheduler.finish_requests(["a", "b", "c"], FINISHED_ABORTED)
        step(scheduler)
        self.assertEqual(sorted(scheduler.requests), ["d", "e"])
        self.path.unlink()  # the plan's again
        self.now += 1.0
        self.add(*"fgh")
        step(scheduler)
        self.assertEqual(sorted(scheduler.requests), list("defgh"))

    def test_a_held_request_that_never_fits_any_more_is_told_so(self):
        scheduler = self.start(admission={"tenants": []})
        self.add(*"abcd")
        self.add("large", prompt=80, output=15)
        self.write({"budget_blocks": 4})
        self.assertEqual([o.request_id for o in step(scheduler)[0].outputs], ["large"])

    def test_tenants_can_be_changed_and_added(self):
        scheduler = self.start()
        self.write({"tenants": [{"name": "a", "max_blocks": 2}, {"name": "new", "min_blocks": 4}]})
        step(scheduler)
        self.add("a1", "a2", tenant="a")
        self.assertEqual(list(scheduler.requests), ["a1"])
        self.add("n1", "n2", tenant="new")
        self.assertEqual(list(scheduler.requests), ["a1", "n1", "n2"])
        named = {t["name"]: t["most_blocks"] for t in segment.read()[0]["tenants"]}
        self.assertEqual(named, {"default": 4, "a": 2, "b": 6, "new": 8})

    def test_what_cannot_be_taken_changes_nothing_and_is_said_once(self):
        scheduler = self.start()
        for content, message in (
            ("{", "is no JSON"),
            ("[1]", "has no object"),
            ({"budget": 4}, "has no key 'budget'"),
            ({"budget_blocks": -4}, "is -4"),
            ({"budget_blocks": 11}, "11 budget_blocks, the engine has 10"),
            ({"budget_blocks": 1}, "the tenants' minima are 2 together"),
            ({"tenants": [{"name": "a", "min_blocks": 3, "max_blocks": 2}]}, "above its max_blocks"),
            ({"tenants": [{"name": "a", "weight": 0}]}, "weight of tenant a is 0"),
            ({"tenants": [{"name": ""}]}, "a tenant's name is ''"),
            ({"tenants": [{"name": f"t{i}"} for i in range(62)]}, "more than 64 tenants"),
        ):
            self.write(content)
            with self.subTest(message), self.assertLogs("vllm.kvbudget", "ERROR") as logs:
                step(scheduler)
                self.now += 5
                step(scheduler)
            self.assertEqual(len(logs.output), 1)
            self.assertIn(message, logs.output[0])
            self.assertEqual(scheduler.kvb.budget_blocks, 10)
            named = {t["name"]: t["most_blocks"] for t in segment.read()[0]["tenants"]}
            self.assertEqual(named, {"default": 8, "a": 4, "b": 10})

    def test_it_is_there_at_the_start_already(self):
        self.write({"budget_blocks": 6})
        self.assertEqual(self.start().kvb.budget_blocks, 6)

    def test_the_server_lets_a_request_in_that_brings_the_new_budget(self):
        self.write({"budget_blocks": 4})
        scheduler = self.start(admission={"tenants": []})

        class Processor:
            def process_inputs(self, prompt, output):
                return arrived(prompt, output)

        front.wrap(Processor, lambda why, **_: ValueError(why), segment.read, str(self.path))
        with self.assertRaisesRegex(ValueError, "the budget is 4"):
            Processor().process_inputs(80, output=15)
        self.write({"budget_blocks": 8})  # the engine is idle and has not looked yet
        Processor().process_inputs(80, output=15)
        self.add("large", prompt=80, output=15)
        self.assertIn("large", scheduler.requests)


class TenantTest(unittest.TestCase):
    def test_the_first_that_is_known_decides(self):
        given = {
            "sampling_params": SimpleNamespace(extra_args={"kvbudget_tenant": "stated"}),
            "lora_request": SimpleNamespace(lora_name="lora"),
            "session_id": "session",
            "cache_salt": "salt",
            "priority": 3,
        }
        order = ["stated", "lora", "session", "salt", "priority-3"]
        known = set(order)
        for at, name in enumerate(order):
            self.assertEqual(tenants.tenant_of(SimpleNamespace(**given), known), name)
            del given[list(given)[0]]
        self.assertEqual(tenants.tenant_of(SimpleNamespace(priority=4), known), "default")

    def test_who_names_a_tenant_gets_no_other(self):
        for stated in ("unknown", "default", "", 7, ["lora"]):
            request = SimpleNamespace(
                sampling_params=SimpleNamespace(extra_args={"kvbudget_tenant": stated}),
                lora_request=SimpleNamespace(lora_name="lora"),
            )
            self.assertEqual(tenants.tenant_of(request, {"lora", "default"}), "default")


class ReportTest(unittest.TestCase):
    def test_the_server_says_what_strict_mode_would_do_when_it_changes(self):
        scheduler = start({"mode": "observe"}, blocks=41)
        self.addCleanup(scheduler.shutdown)
        now = [0.0]
        reporter = report.Reporter(segment.read, lambda: now[0])
        for i in range(6):
            scheduler.add_request(fakes.request(f"r{i}"))
        scheduler.kvb.preemptions = 7
        step(scheduler)
        with self.assertNoLogs("vllm.kvbudget"):
            reporter.maybe()
        now[0] = 61.0
        with self.assertLogs("vllm.kvbudget", "INFO") as logs:
            reporter.maybe()
            now[0] = 200.0
            reporter.maybe()
        self.assertEqual(len(logs.output), 1)
        self.assertIn("held 2 and rejected 0 of 6 requests and avoided 7 preemptions", logs.output[0])
        self.assertIn("with 2.0 requests fewer running", logs.output[0])
        self.assertIn("held 2 and rejected 0 of 6", scheduler.kvb.report())

    def test_a_server_takes_the_segments_of_its_engines_away(self):
        start({"share": "/kvbudget-left"}).kvb.publish(0, 0, 0, 0.0)
        one = start({"share": "/kvbudget-left"})
        segment.remove("/kvbudget-left", 2)
        self.assertEqual(segment.read("/kvbudget-left", 2), {})
        one.shutdown()


if __name__ == "__main__":
    unittest.main()
