"""What keeps an engine from starting: settings, plans and releases that do not match."""

import hashlib
import json
import os
import pathlib
import tempfile
import unittest
from unittest import mock

import fakes
import metrics_test
from kvbudget.vllm import (
    arguments,
    check,
    contract,
    model_config,
    plan,
    register,
    settings,
)


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

    def test_our_plugin_may_be_left_out(self):
        self.assertFalse(contract.excluded_by({}))
        self.assertFalse(contract.excluded_by({"VLLM_PLUGINS": "other,kvbudget"}))
        self.assertTrue(contract.excluded_by({"VLLM_PLUGINS": "other"}))

    def test_a_scheduler_says_that_the_plugin_is_left_out(self):
        with mock.patch.dict(os.environ, {"VLLM_PLUGINS": "other"}):
            with self.assertLogs("vllm.kvbudget", "WARNING") as logs:
                metrics_test.start().shutdown()
        self.assertIn("VLLM_PLUGINS=other leaves kvbudget out", logs.output[0])

    def test_the_check_fails_without_an_engine(self):
        hidden = {name: None for name in ("vllm", "vllm.v1")}
        with mock.patch.dict("sys.modules", hidden), open(os.devnull, "w") as nowhere:
            with mock.patch("sys.stdout", nowhere):
                self.assertEqual(check.main([]), 1)


class ArgumentsTest(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.path = pathlib.Path(folder.name) / "plan.json"
        self.write("--num-gpu-blocks-override=11")

    def write(self, pin):
        self.path.write_text(json.dumps(fakes.plan(flags=[pin, "--additional-config={}"])))

    def problems(self, *words, plan=None):
        return arguments.problems(["serve", "org/name", *words], plan)

    def words(self, **changes):
        setting = json.dumps({"kvbudget": {"plan": str(self.path)}})
        given = {
            "scheduler-cls": arguments.SCHEDULER,
            "additional-config": setting,
            "num-gpu-blocks-override": "11",
        } | changes
        return [w for k, v in given.items() if v is not None for w in (f"--{k}", v)]

    def test_a_command_line_of_the_plan_has_no_problem(self):
        self.assertEqual(self.problems(*self.words()), [])
        self.assertEqual(
            self.problems(
                f"--scheduler_cls={arguments.SCHEDULER}",
                f"--additional_config.kvbudget.plan={self.path}",
                "--num_gpu_blocks_override=11",
                "--enforce-eager",
            ),
            [],
        )

    def test_what_is_missing_or_different_is_named(self):
        cases = [
            ({"scheduler-cls": None}, "--scheduler-cls kvbudget.vllm.make_scheduler is missing"),
            ({"scheduler-cls": "other.Scheduler"}, "--scheduler-cls is other.Scheduler"),
            ({"num-gpu-blocks-override": None}, "--num-gpu-blocks-override 11 is missing"),
            ({"num-gpu-blocks-override": "12"}, "--num-gpu-blocks-override is 12, the plan has 11"),
            ({"additional-config": "{"}, "--additional-config is no JSON"),
            ({"additional-config": "[]"}, "--additional-config is no object"),
            ({"additional-config": '{"kvbudget": {"plan": "/nowhere"}}'}, "/nowhere cannot be read"),
            ({"additional-config": '{"kvbudget": {"mod": "strict"}}'}, "has no key 'mod'"),
            ({"additional-config": '{"kvbudget": {"mode": "strict"}}'}, "strict needs a plan"),
        ]
        for changes, message in cases:
            with self.subTest(message):
                found = self.problems(*self.words(**changes))
                self.assertEqual(len(found), 1, found)
                self.assertIn(message, found[0])

    def test_a_plan_that_is_given_stands_for_the_containers(self):
        inside = json.dumps({"kvbudget": {"plan": "/etc/kvbudget/plan.json"}})
        plan = settings.load_plan(self.path)
        words = self.words(**{"additional-config": inside})
        self.assertEqual(self.problems(*words, plan=plan), [])
        found = self.problems(*self.words(**{"additional-config": None}), plan=plan)
        self.assertIn("has no kvbudget.plan", found[0])

    def test_sizes_are_compared_by_their_bytes(self):
        self.write("--kv-cache-memory-bytes=67108864")
        for text, is_same in (("64M", True), ("67108864", True), ("64m", False), ("x", False)):
            words = self.words(**{"num-gpu-blocks-override": None, "kv-cache-memory-bytes": text})
            self.assertEqual(self.problems(*words) == [], is_same, text)

    def test_exit_codes_tell_what_was_found(self):
        with mock.patch.object(check, "_installation_problems", return_value=[]):
            with open(os.devnull, "w") as nowhere, mock.patch("sys.stdout", nowhere):
                self.assertEqual(check.main([str(self.path), "--", *self.words()]), 0)
                self.assertEqual(check.main([str(self.path), "--", "serve", "m"]), 1)
                self.assertEqual(check.main([str(self.path) + "x"]), 1)
                self.assertEqual(check.main(["--plan", "x"]), 2)


class ModelConfigTest(unittest.TestCase):
    def test_a_plan_of_another_config_json_is_refused(self):
        with tempfile.TemporaryDirectory() as folder:
            path = pathlib.Path(folder) / "config.json"
            path.write_text("{}")
            model = fakes.SimpleNamespace(model=folder, revision=None)
            real = model_config.sha256_of(model)
            self.assertEqual(real, hashlib.sha256(b"{}").hexdigest())
        planned = fakes.plan(config_source="config.json", config_sha256="0" * 64)
        found = plan.problems(planned, engine(config_sha256=real))
        self.assertIn("config_sha256: the plan says 000000000000", found[0])
        same = planned | {"config_sha256": real}
        self.assertEqual(plan.problems(same, engine(config_sha256=real)), [])
        built_in = planned | {"config_source": "built-in catalogue"}
        for one, facts in ((planned, engine()), (built_in, engine(config_sha256=real))):
            self.assertEqual(plan.problems(one, facts), [])

    def test_a_config_json_that_is_not_at_hand_is_no_problem(self):
        model = fakes.SimpleNamespace(model="s3://bucket/model", revision=None)
        self.assertIsNone(model_config.sha256_of(model))

    def test_an_engine_without_experts_does_not_know_its_siblings(self):
        config = fakes.vllm_config()
        config.model_config.is_moe = False
        facts = plan.engine_of("0.32.0", config, fakes.kv_cache_config())
        self.assertEqual(plan.problems(fakes.plan(parallel={"dp": 2}), facts), [])


if __name__ == "__main__":
    unittest.main()
