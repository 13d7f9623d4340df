"""What keeps an engine from starting: settings, plans and releases that do not match."""

import json
import os
import pathlib
import tempfile
import unittest
from unittest import mock

import fakes
from kvbudget.vllm import check, contract, plan, register, settings


def engine(**changes):
    facts = plan.engine_of("0.32.0+cpu", fakes.vllm_config(), fakes.kv_cache_config())
    return plan.dataclasses.replace(facts, **changes)


class PlanTest(unittest.TestCase):
    def test_the_engine_of_the_plan_is_accepted(self):
        self.assertEqual(plan.problems(fakes.plan(), engine()), [])

    def test_each_difference_names_the_numbers_and_the_flag(self):
        cases = [
            ({"model": "org/other"}, "model: the plan says org/other, the engine has org/name", "--model org/other"),
            ({"dtype": "float16"}, "says float16, the engine has bfloat16", "--dtype float16"),
            ({"kv_cache_dtype": "fp8"}, "says fp8, the engine has auto", "--kv-cache-dtype fp8"),
            ({"block_size": 32}, "says 32, the engine has 16", "--block-size 32"),
            ({"bytes_per_block": 1024}, "says 1024, the engine has 2048", "--kv-cache-dtype"),
            ({"num_blocks": 12}, "says 12, the engine has 11", "--num-gpu-blocks-override 12"),
            ({"max_model_len": 512}, "says 512, the engine has 256", "--max-model-len 512"),
            ({"max_num_seqs": 8}, "says 8, the engine has 64", "--max-num-seqs 8"),
            ({"parallel": {"tp": 2}}, "tp: the plan says 2", "--tensor-parallel-size 2"),
            ({"parallel": {"pp": 2}}, "pp: the plan says 2", "--pipeline-parallel-size 2"),
            ({"parallel": {"dp": 2}}, "dp: the plan says 2", "--data-parallel-size 2"),
            ({"engine": {"versions": ["0.31.0"]}}, "says 0.31.0, the engine has 0.32.0", "--engine"),
        ]
        for changes, numbers, flag in cases:
            with self.subTest(changes):
                with self.assertRaises(ValueError) as raised:
                    plan.verify(fakes.plan(**changes), engine())
                self.assertIn(numbers, str(raised.exception))
                self.assertIn(flag, str(raised.exception))

    def test_all_differences_are_told_at_once(self):
        found = plan.problems(fakes.plan(num_blocks=12, max_num_seqs=8), engine())
        self.assertEqual(len(found), 2)

    def test_a_cache_of_the_models_own_dtype_is_auto(self):
        planned = fakes.plan(kv_cache_dtype="bfloat16")
        self.assertEqual(plan.problems(planned, engine()), [])
        self.assertEqual(plan.problems(fakes.plan(), engine(kv_cache_dtype="bfloat16")), [])
        self.assertEqual(len(plan.problems(fakes.plan(), engine(kv_cache_dtype="fp8"))), 1)

    def test_a_release_matches_its_patches(self):
        planned = fakes.plan(engine={"versions": ["0.32"]})
        self.assertEqual(plan.problems(planned, engine()), [])
        self.assertEqual(len(plan.problems(planned, engine(version="0.320.0"))), 1)

    def test_an_offline_engine_names_the_snapshot_of_the_model(self):
        folder = "/root/.cache/huggingface/hub/models--org--name/snapshots/0123"
        self.assertEqual(plan.problems(fakes.plan(), engine(model=folder)), [])

    def test_a_plan_without_its_numbers_is_refused(self):
        with self.assertRaisesRegex(ValueError, "the plan has no usable_blocks"):
            plan.verify(fakes.plan(usable_blocks=None), engine())

    def test_bytes_of_a_block_are_those_of_the_allocation(self):
        space = fakes.SimpleNamespace
        own = [space(size=110), space(size=220)]
        packed = [space(size=330, block_stride=30, offset=o) for o in (0, 10)]
        shared = [space(size=330, layers=["a"], block_stride=10) for _ in range(3)]
        host = [*shared, space(size=9999, layers=["b"], block_stride=10, host_resident=True)]
        for tensors in (own, packed, shared, host):
            config = space(num_blocks=11, kv_cache_tensors=tensors)
            self.assertEqual(plan.bytes_per_block(config), 30)


class SettingsTest(unittest.TestCase):
    def parse(self, content, **setting):
        with tempfile.TemporaryDirectory() as folder:
            path = pathlib.Path(folder) / "plan.json"
            path.write_text(content if isinstance(content, str) else json.dumps(content))
            return settings.parse({"kvbudget": {"plan": str(path)} | setting})

    def test_without_a_plan_only_observe_mode_starts(self):
        for nothing in ({}, None, {"kvbudget": {}}, {"kvbudget": {"mode": "observe"}}):
            self.assertEqual(settings.parse(nothing).mode, "observe")
        for mode in ("strict", "optimistic"):
            with self.assertRaisesRegex(ValueError, f"mode {mode} needs a plan"):
                settings.parse({"kvbudget": {"mode": mode}})

    def test_the_setting_overrides_the_plans_mode(self):
        self.assertEqual(self.parse(fakes.plan()).mode, "strict")
        self.assertEqual(self.parse(fakes.plan(), mode="observe").mode, "observe")

    def test_what_is_not_understood_is_refused(self):
        cases = [
            ("{", {}, "cannot be read"),
            ({"schema": 2}, {}, "no plan of schema 1"),
            (fakes.plan(), {"mod": "strict"}, "has no key 'mod'"),
            (fakes.plan(), {"mode": "strikt"}, "mode is 'strikt'"),
            (fakes.plan(admission={"max_holding": 1}), {}, "has no key 'max_holding'"),
            (fakes.plan(admission={"max_pending": -1}), {}, "max_pending is -1"),
            (fakes.plan(admission={"max_pending": "many"}), {}, "max_pending is 'many'"),
        ]
        for content, setting, message in cases:
            with self.subTest(message), self.assertRaisesRegex(ValueError, message):
                self.parse(content, **setting)
        with self.assertRaisesRegex(ValueError, "/nowhere/plan.json cannot be read"):
            settings.parse({"kvbudget": {"plan": "/nowhere/plan.json"}})


class ContractTest(unittest.TestCase):
    def test_releases_outside_the_known_ones_need_a_say_so(self):
        for version in ("0.24.0", "0.28.1", "0.32.0+cpu", "0.33.0"):
            self.assertIsNone(contract.version_problem(version, {}))
        for version in ("0.23.0", "0.34.0", "1.0.0", "dev"):
            self.assertIn(version, contract.version_problem(version, {}))
            self.assertIsNone(contract.version_problem(version, {"KVBUDGET_ALLOW_UNTESTED": "1"}))

    def test_a_scheduler_that_lost_a_method_or_parameter_is_refused(self):
        self.assertEqual(contract.interface_problems(fakes.Scheduler), [])

        class Renamed(fakes.Scheduler):
            make_stats = None

            def finish_requests(self, ids, finished_status):
                pass

        with self.assertRaisesRegex(RuntimeError, "no method make_stats") as raised:
            contract.require("0.32.0", Renamed)
        self.assertIn("finish_requests takes no request_ids", str(raised.exception))

    def test_registering_twice_does_nothing_twice(self):
        register()
        register()

    def test_the_check_knows_when_our_plugin_is_left_out(self):
        self.assertFalse(check.excluded_by({}))
        self.assertFalse(check.excluded_by({"VLLM_PLUGINS": "other,kvbudget"}))
        self.assertTrue(check.excluded_by({"VLLM_PLUGINS": "other"}))

    def test_the_check_fails_without_an_engine(self):
        hidden = {name: None for name in ("vllm", "vllm.v1")}
        with mock.patch.dict("sys.modules", hidden), open(os.devnull, "w") as nowhere:
            with mock.patch("sys.stdout", nowhere):
                self.assertEqual(check.main([]), 1)


if __name__ == "__main__":
    unittest.main()
