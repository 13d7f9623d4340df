"""The API server's entry point, with as much of an engine around it as it touches."""

import sys
import types
import unittest
from unittest import mock

import fakes
import prometheus_client
from front_test import TooLarge, arrived
from kvbudget.vllm import segment
from metrics_test import start


def _module(name, **content):
    module = types.ModuleType(name)
    vars(module).update(content)
    return module


class StatLoggerTest(unittest.TestCase):
    def setUp(self):
        self.scheduler = start({"share": "/kvbudget-stats"})
        self.addCleanup(self.scheduler.shutdown)

        class InputProcessor:
            def process_inputs(self, prompt, output):
                return arrived(prompt, output)

        self.processor = InputProcessor
        modules = {
            "vllm": _module("vllm"),
            "vllm.exceptions": _module("vllm.exceptions", VLLMValidationError=TooLarge),
            "vllm.v1.engine.input_processor": _module("i", InputProcessor=InputProcessor),
            "vllm.v1.metrics.loggers": _module("l", AggregateStatLoggerBase=object),
        }
        patches = mock.patch.dict(sys.modules, modules)
        patches.start()
        self.addCleanup(patches.stop)
        sys.modules.pop("kvbudget.vllm.stats", None)
        from kvbudget.vllm import stats

        self.stats = stats
        self.registry = prometheus_client.CollectorRegistry()
        self.leaving = []
        export = stats.export
        for name, replaced in (
            ("export", lambda read: export(read, self.registry, {})),
            ("atexit", types.SimpleNamespace(register=lambda *call: self.leaving.append(call))),
        ):
            patch = mock.patch.object(stats, name, replaced)
            patch.start()
            self.addCleanup(patch.stop)

    def server(self, setting=None, scheduler="kvbudget.vllm.make_scheduler", rank=0):
        config = fakes.vllm_config(setting or {"share": "/kvbudget-stats"}, _api_process_rank=rank)
        config.scheduler_config.scheduler_cls = scheduler
        return self.stats.StatLogger(config, [0])

    def budget(self):
        return self.registry.get_sample_value("kvbudget_budget_blocks", {"engine": "0"})

    def is_wrapped(self):
        return hasattr(self.processor.process_inputs, "kvbudget_stock")

    def test_the_first_server_exports_and_refuses(self):
        self.server().log()
        self.assertEqual(self.budget(), 10)
        with self.assertRaisesRegex(TooLarge, "the budget is 10"):
            self.processor().process_inputs(100, 100)
        (leave, *arguments), = self.leaving
        leave(*arguments)
        self.assertEqual(segment.read("/kvbudget-stats", 1), {})

    def test_a_second_engine_of_the_process_is_no_duplicate(self):
        self.server()
        stock = self.processor.process_inputs.kvbudget_stock
        self.server()
        self.assertEqual(self.budget(), 10)
        self.assertIs(self.processor.process_inputs.kvbudget_stock, stock)

    def test_the_other_servers_only_refuse(self):
        self.server(rank=1).log()
        self.assertIsNone(self.budget())
        self.assertTrue(self.is_wrapped())
        self.assertEqual(self.leaving, [])

    def test_an_engine_that_is_not_guarded_is_left_alone(self):
        for setting, scheduler in ((None, None), (None, "other.Scheduler"), ({"share": False}, "kvbudget.x")):
            self.server(setting, scheduler).log()
            self.assertIsNone(self.budget())
            self.assertFalse(self.is_wrapped())


if __name__ == "__main__":
    unittest.main()
