"""What the API server reads of the ledger: segments, metrics, and whether the alert rules' names are there."""

import json
import os
import pathlib
import re
import tempfile
import unittest
from unittest import mock

import fakes
import prometheus_client
from kvbudget import _core
from kvbudget.vllm import metrics, segment
from scheduler_test import FINISHED_ABORTED, Guarded, step

SNIPPETS = pathlib.Path(__file__).parents[3] / "lint/plan/snippets.cc"
TENANTS = [{"name": "a", "max_blocks": 4}, {"name": "b", "min_blocks": 2}]


def start(setting=None, admission=None, blocks=11, **parallel):
    with tempfile.TemporaryDirectory() as folder:
        path = pathlib.Path(folder) / "plan.json"
        admission = {"mode": "strict", "tenants": TENANTS} | (admission or {})
        path.write_text(json.dumps(fakes.plan(admission=admission, num_blocks=blocks)))
        return Guarded(
            vllm_config=fakes.vllm_config({"plan": str(path)} | (setting or {}), **parallel),
            kv_cache_config=fakes.kv_cache_config(blocks),
            block_size=16,
        )


class MetricsTest(unittest.TestCase):
    def start(self, *arguments, **fields):
        scheduler = start(*arguments, **fields)
        self.addCleanup(scheduler.shutdown)
        self.registry = prometheus_client.CollectorRegistry()
        self.registry.register(metrics.Collector(segment.read))
        return scheduler

    def value(self, name, **labels):
        return self.registry.get_sample_value(f"kvbudget_{name}", {"engine": "0"} | labels)

    def add(self, scheduler, *names, **fields):
        for name in names:
            extra = fakes.SimpleNamespace(extra_args={"kvbudget_tenant": name[0]})
            scheduler.add_request(fakes.request(name, sampling_params=extra, **fields))

    def test_figures_follow_the_ledger(self):
        scheduler = self.start()
        self.add(scheduler, "a1", "a2", "a3", "b1")  # of a, four blocks at most
        self.add(scheduler, "b-never", prompt=100, output=100)
        step(scheduler)
        self.assertEqual(self.value("budget_blocks"), 10)
        self.assertEqual(self.value("reserved_blocks"), 6)
        self.assertEqual(self.value("held_blocks"), 6)
        self.assertEqual(self.value("reconcile_drift_blocks"), 0)
        self.assertEqual(self.value("tenant_reserved_blocks", tenant="a"), 4)
        self.assertEqual(self.value("pending_requests", tenant="a"), 1)
        self.assertEqual(self.value("pending_requests", tenant="b"), 0)
        self.assertEqual(self.value("rejected_total", reason="above_budget"), 1)
        self.assertEqual(self.value("rejected_total", reason="pending_full"), 0)
        self.assertEqual(self.value("info", mode="strict"), 1)
        self.assertEqual(self.value("would_hold_total"), 0)
        scheduler.finish_requests("a1", FINISHED_ABORTED)
        step(scheduler)
        self.assertEqual(self.value("hold_seconds_count"), 1)
        self.assertGreater(self.value("hold_seconds_sum"), 0)
        self.assertEqual(self.value("ledger_call_seconds_count"), 2)
        self.assertGreater(self.value("ledger_call_seconds_sum"), 0)

    def test_observe_mode_reports_under_other_names(self):
        scheduler = self.start({"mode": "observe"}, blocks=41)
        self.add(scheduler, "a1", "a2", "a3")
        self.add(scheduler, "b-never", prompt=100, output=100)
        step(scheduler)
        self.assertEqual(self.value("would_hold_total"), 1)
        self.assertEqual(self.value("would_reject_total"), 1)
        self.assertEqual(self.value("concurrency_lost"), 2)
        self.assertEqual(self.value("pending_requests", tenant="a"), 0)
        self.assertEqual(self.value("held_total"), 0)
        self.assertEqual(self.value("info", mode="observe"), 1)

    def test_every_rank_has_its_own_segment(self):
        first = self.start({"share": "/kvbudget-ranks"})
        second = start({"share": "/kvbudget-ranks"}, data_parallel_index=1)
        self.addCleanup(second.shutdown)
        self.add(second, "a1")
        step(second)
        found = segment.read("/kvbudget-ranks", 2)
        self.assertEqual([found[rank]["reserved_blocks"] for rank in (0, 1)], [0, 2])
        first.shutdown()
        self.assertEqual(list(segment.read("/kvbudget-ranks", 2)), [1])

    def test_names_of_the_alert_rules_are_exported(self):
        used = set(re.findall(r"kvbudget_\w+", SNIPPETS.read_text()))
        self.assertGreater(len(used), 3)
        self.start()
        known = {s.name for family in self.registry.collect() for s in family.samples}
        self.assertEqual(used - known, set())

    def test_a_segment_that_is_gone_or_not_ours_leaves_no_samples(self):
        scheduler = self.start({"share": "/kvbudget-gone"})
        scheduler.shutdown()
        collector = metrics.Collector(lambda: segment.read("/kvbudget-gone", 1))
        self.assertEqual([s for f in collector.collect() for s in f.samples], [])
        path = pathlib.Path("/dev/shm/kvbudget-torn-0")
        path.write_bytes(b"x" * 100_000)
        self.addCleanup(path.unlink)
        self.assertEqual(segment.read("/kvbudget-torn", 1), {})

    def test_several_servers_get_plain_gauges(self):
        scheduler = self.start()
        self.add(scheduler, "a1")
        step(scheduler)
        self.registry = prometheus_client.CollectorRegistry()
        mirror = metrics.Mirror(segment.read, self.registry)
        mirror.refresh()
        mirror.refresh()
        self.assertEqual(self.value("reserved_blocks"), 2)
        self.assertEqual(self.value("rejected_total", reason="above_budget"), 0)

    def test_a_segment_that_another_engine_writes_is_refused_when_it_was_named(self):
        self.start({"share": "/kvbudget-two"})
        with self.assertRaisesRegex(ValueError, "/kvbudget-two-0: shared memory failed"):
            start({"share": "/kvbudget-two"})
        self.start({"share": False})
        with self.assertLogs("vllm.kvbudget", "WARNING") as logs:
            one, two = self.start(), self.start()
        self.assertIn("no figures are shared", logs.output[0])
        self.assertEqual((one.kvb.segment is None, two.kvb.segment), (False, None))

    def test_both_ends_find_each_other_from_whatever_process_starts_them(self):
        parent = fakes.SimpleNamespace(pid=41)
        with mock.patch("multiprocessing.parent_process", return_value=parent):
            self.assertEqual(segment.writer_name(None, 3), "/kvbudget-41-3")
            self.assertEqual(segment.reader_bases(), [f"/kvbudget-{os.getpid()}", "/kvbudget-41"])
        self.assertEqual(segment.writer_name(None, 0), f"/kvbudget-{os.getpid()}-0")
        self.assertEqual(segment.writer_name("/kvbudget-x", 1), "/kvbudget-x-1")

    def test_the_largest_request_of_each_tenant_is_told(self):
        self.start()
        figures = segment.read()[0]
        most = {tenant["name"]: tenant["most_blocks"] for tenant in figures["tenants"]}
        self.assertEqual(most, {"default": 8, "a": 4, "b": 10})
        self.assertEqual(figures["engine"]["groups"], ((_core.GROUP_FULL, 16, 0),))


if __name__ == "__main__":
    unittest.main()
