"""What the attention backend refuses and when it is asked for, without an engine."""

import enum
import sys
import types
import unittest
from unittest import mock

from kvbudget.vllm import attention
from kvbudget.vllm.attention import limits


def engine(**changes):
    parallel = types.SimpleNamespace(
        decode_context_parallel_size=changes.pop("decode_context_parallel_size", 1),
        prefill_context_parallel_size=1,
    )
    model = types.SimpleNamespace(
        is_mm_prefix_lm=changes.pop("is_mm_prefix_lm", False),
        rswa_window=changes.pop("rswa_window", None),
        use_mla=changes.pop("use_mla", False),
    )
    cache = types.SimpleNamespace(block_size=changes.pop("block_size", 16))
    return types.SimpleNamespace(
        cache_config=cache,
        **{"kv_transfer_config": None, "parallel_config": parallel, "model_config": model} | changes,
    )


def layer(num_heads=32, num_kv_heads=8, head_size=128, attn_type="decoder", alibi_slopes=None):
    return limits.layer_problems(num_heads, num_kv_heads, head_size, attn_type, alibi_slopes)


class Scales(list):
    """A tensor of one dimension."""

    def flatten(self):
        return self

    def tolist(self):
        return list(self)


def scaled(k_scales, v_scales=(1.0,), target=None):
    return types.SimpleNamespace(
        _k_scale=Scales(k_scales), _v_scale=Scales(v_scales), kv_sharing_target_layer_name=target
    )


class AttentionType(str, enum.Enum):
    """As the engine's from 0.24 on: its name is not what one wants to read."""

    ENCODER_ONLY = "encoder_only"


class LimitsTest(unittest.TestCase):
    def test_an_engine_and_layer_like_most_are_taken(self):
        self.assertEqual(limits.engine_problems(engine()), [])
        self.assertEqual(layer(), [])
        self.assertEqual(layer(num_heads=16, num_kv_heads=1), [])
        limits.refuse([])

    def test_what_moves_or_cuts_pages_is_refused_by_name(self):
        for changes, word in (
            ({"kv_transfer_config": object()}, "KV connectors"),
            ({"decode_context_parallel_size": 2}, "context parallelism"),
            ({"is_mm_prefix_lm": True}, "prefix LM"),
            ({"rswa_window": 4096}, "sliding windows"),
            ({"use_mla": True}, "MLA"),
            ({"block_size": 136}, "--block-size 136 .it can be a multiple of 16"),
        ):
            with self.subTest(word):
                (problem,) = limits.engine_problems(engine(**changes))
                self.assertRegex(problem, word)

    def test_an_engine_of_a_release_without_these_settings_is_taken(self):
        self.assertEqual(
            limits.engine_problems(
                types.SimpleNamespace(
                    parallel_config=types.SimpleNamespace(), model_config=types.SimpleNamespace()
                )
            ),
            [],
        )

    def test_skipped_layers_beside_scales_for_each_token_need_pages_by_layer(self):
        mixed = {"kv_cache_dtype_skip_layers": ["0"], "cache_dtype": "fp8_per_token_head"}
        for release, changes, count in (
            ((0, 24), {}, 1),
            ((0, 25), {}, 0),
            (None, {}, 0),
            ((0, 24), {"cache_dtype": "fp8"}, 0),
            ((0, 24), {"kv_cache_dtype_skip_layers": []}, 0),
        ):
            with self.subTest(release=release, **changes):
                cache = types.SimpleNamespace(**(mixed | changes))
                found = limits.release_problems(types.SimpleNamespace(cache_config=cache), release)
                self.assertEqual(len(found), count)

    def test_a_layer_that_the_kernels_cannot_do_is_refused_by_name(self):
        for changes, word in (
            ({"attn_type": "encoder_only"}, "type encoder_only"),
            ({"attn_type": AttentionType.ENCODER_ONLY}, "type encoder_only"),
            ({"alibi_slopes": [0.5]}, "ALiBi"),
            ({"head_size": 80}, "head size 80"),
            ({"num_heads": 17, "num_kv_heads": 1}, "17 query heads"),
        ):
            with self.subTest(word):
                (problem,) = layer(**changes)
                self.assertIn(word, problem)

    def test_scales_that_make_codes_are_taken_whatever_their_sign(self):
        layers = {"0": scaled([0.5, 2.0]), "1": scaled([-1.0]), "2": scaled([0.5, 2.0], target="0")}
        self.assertEqual(limits.scale_problems(layers), [])

    def test_scales_that_make_none_or_are_not_those_of_the_pages_are_refused(self):
        for layers, words in (
            ({"0": scaled([1.0]), "1": scaled([0.0]), "2": scaled([0.0])}, "a k_scale of 0.0 .1."),
            ({"0": scaled([1.0], [1.0, float("nan")])}, "a v_scale of nan .0."),
            ({"0": scaled([float("inf")])}, "a k_scale of inf .0."),
            (
                {"0": scaled([0.5]), "1": scaled([1.0], target="0")},
                "a k_scale of .1.0. .1. for pages that 0 writes with .0.5.",
            ),
        ):
            with self.subTest(words):
                (problem,) = limits.scale_problems(layers)
                self.assertRegex(problem, words + ".*fp8_per_token_head")

    def test_all_that_is_wrong_is_said_at_once_with_the_way_out(self):
        problems = layer(head_size=80, alibi_slopes=[1.0])
        with self.assertRaisesRegex(ValueError, "ALiBi; head size 80.*Unset KVBUDGET_ATTENTION"):
            limits.refuse(problems)

    def test_output_that_should_be_quantised_is_refused(self):
        limits.refuse_output_scales((None,), {"output_block_scale": None})
        with self.assertRaisesRegex(ValueError, "quantised output"):
            limits.refuse_output_scales((), {"output_scale": 1.0})


class WantedTest(unittest.TestCase):
    def test_it_is_off_until_it_is_asked_for(self):
        self.assertFalse(attention.is_wanted({}))
        self.assertFalse(attention.is_wanted({"KVBUDGET_ATTENTION": "0"}))
        self.assertTrue(attention.is_wanted({"KVBUDGET_ATTENTION": "1"}))

    def test_a_mistyped_value_is_an_error_and_not_a_no(self):
        with self.assertRaisesRegex(ValueError, "KVBUDGET_ATTENTION is 'yes'"):
            attention.is_wanted({"KVBUDGET_ATTENTION": "yes"})
        with self.assertRaisesRegex(ValueError, "KVBUDGET_CPU_ISA is 'avx'"):
            attention.is_wanted({"KVBUDGET_ATTENTION": "1", "KVBUDGET_CPU_ISA": "avx"})

    def test_a_release_that_was_not_tried_is_refused_by_name(self):
        attention.refuse_release("0.24.0+cpu", {})
        attention.refuse_release("0.34.0", {"KVBUDGET_ALLOW_UNTESTED": "1"})
        with self.assertRaisesRegex(ValueError, "KVBUDGET_ATTENTION is 1, but vLLM 0.34.0 is not"):
            attention.refuse_release("0.34.0", {})

    def test_kernels_that_cannot_be_loaded_are_said_with_the_way_out(self):
        with mock.patch.dict(sys.modules, {"kvbudget._kernels": None}):
            with self.assertRaisesRegex(ImportError, "KVBUDGET_ATTENTION is 1.*kernels.*unset"):
                attention.load_kernels()


if __name__ == "__main__":
    unittest.main()
