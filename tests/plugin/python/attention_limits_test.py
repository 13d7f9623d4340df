"""What the attention backend refuses and when it is asked for, without an engine."""

import types
import unittest

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
    return types.SimpleNamespace(
        **{"kv_transfer_config": None, "parallel_config": parallel, "model_config": model} | changes
    )


def layer(num_heads=32, num_kv_heads=8, head_size=128, attn_type="decoder", alibi_slopes=None):
    return limits.layer_problems(num_heads, num_kv_heads, head_size, attn_type, alibi_slopes)


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
        ):
            with self.subTest(word):
                (problem,) = limits.engine_problems(engine(**changes))
                self.assertIn(word, problem)

    def test_an_engine_of_a_release_without_these_settings_is_taken(self):
        self.assertEqual(
            limits.engine_problems(
                types.SimpleNamespace(
                    parallel_config=types.SimpleNamespace(), model_config=types.SimpleNamespace()
                )
            ),
            [],
        )

    def test_a_layer_that_the_kernels_cannot_do_is_refused_by_name(self):
        for changes, word in (
            ({"attn_type": "encoder_only"}, "encoder_only"),
            ({"alibi_slopes": [0.5]}, "ALiBi"),
            ({"head_size": 80}, "head size 80"),
            ({"num_heads": 17, "num_kv_heads": 1}, "17 query heads"),
        ):
            with self.subTest(word):
                (problem,) = layer(**changes)
                self.assertIn(word, problem)

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


if __name__ == "__main__":
    unittest.main()
