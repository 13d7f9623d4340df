"""The operators of the backend, without an engine: every kind of scale, windows, caps and sinks
against the definition; and as compiled graphs hold them."""

import os
import unittest

os.environ.setdefault("VLLM_NO_USAGE_STATS", "1")

import torch
from attention_reference import attend_batch, read_cells
from torch.library import opcheck

from kvbudget.vllm.attention import limits, pages
from kvbudget.vllm.attention import ops as _ops  # noqa: F401  # registers torch.ops.kvbudget
from kvbudget.vllm.attention.batch import sequences_of

BLOCKS, TOKENS, KV_HEADS, GROUP, HEAD_SIZE = 40, 16, 2, 3, 64
LENGTHS, QUERIES = (1, 37, 130, 64), (1, 20, 1, 64)
SCALE = HEAD_SIZE**-0.5


class Case:
    """A cache with four requests, written through the operator, and queries for it."""

    def __init__(self, kv_cache_dtype="fp8", scales=(1.0, 1.0), dtype=torch.float32, seed=1):
        generator = torch.Generator().manual_seed(seed)
        self.kv_cache_dtype = kv_cache_dtype
        self.scales = [torch.tensor(s, dtype=torch.float32) for s in scales]
        cell = pages.FORMATS[kv_cache_dtype].cell_bytes(HEAD_SIZE)
        self.cache = torch.randint(
            0, 256, (BLOCKS, KV_HEADS, TOKENS, cell), dtype=torch.uint8, generator=generator
        )  # NOTE: rows that no token was written to hold NaN codes among others
        self.table = torch.randperm(BLOCKS, generator=generator, dtype=torch.int32).view(4, -1)
        self.lengths = torch.tensor(LENGTHS, dtype=torch.int32)
        starts = torch.tensor((0, *QUERIES)).cumsum(0).int()
        self.batch = sequences_of(self.table, self.lengths, starts, max(QUERIES))
        qkv = torch.randn(sum(LENGTHS), (GROUP + 2) * KV_HEADS * HEAD_SIZE, generator=generator)
        heads = qkv.to(dtype).view(len(qkv), -1, HEAD_SIZE)  # views with strides, as a model's are
        self.query = heads[: sum(QUERIES), : GROUP * KV_HEADS]
        self.keys, self.values = heads[:, -2 * KV_HEADS :].split(KV_HEADS, dim=1)
        position = torch.cat([torch.arange(n) for n in LENGTHS])
        request = torch.repeat_interleave(torch.arange(4), self.lengths)
        self.slots = self.table[request, position // TOKENS].long() * TOKENS + position % TOKENS

    def quantize(self):
        torch.ops.kvbudget.quantize_kv(*self.quantize_arguments())

    def quantize_arguments(self):
        return (self.keys, self.values, self.cache, self.slots, *self.scales, self.kv_cache_dtype)

    def decode_arguments(self, output, window=0, soft_cap=0.0, sinks=None):
        b = self.batch
        return (
            *(self.query, self.cache, output, b.block_table, b.lengths, b.query_starts),
            *(*self.scales, sinks, None, None, self.kv_cache_dtype),
            *(b.query_tokens, b.max_length, 0, SCALE, soft_cap, window),
        )

    def decode(self, **others):
        output = torch.full(self.query.shape, float("nan"), dtype=self.query.dtype)
        torch.ops.kvbudget.decode(*self.decode_arguments(output, **others))
        return output

    def reference(self, **others):
        b = self.batch
        return attend_batch(
            self.query, self.cache, b.block_table, b.lengths, b.query_starts, HEAD_SIZE, *self.scales,
            SCALE, **others,
        )  # fmt: skip


KINDS = (
    ("fp8", (1.0, 1.0)),
    ("fp8_e4m3", (0.25, 3.0)),
    ("fp8", ([0.5, 2.0], [1.0, 0.125])),
    ("fp8_per_token_head", (1.0, 1.0)),
)


class OperatorsTest(unittest.TestCase):
    def assert_near(self, found, right, limit):
        self.assertLess(float((found.float() - right).abs().max() / right.abs().max()), limit)

    def test_each_kind_of_scale_comes_back_within_the_rounding_of_e4m3(self):
        for kind in KINDS:
            with self.subTest(kind):
                case = Case(*kind)
                case.quantize()
                cells = read_cells(case.cache, HEAD_SIZE, *case.scales)
                for found, right in zip(cells, (case.keys, case.values)):
                    rows = found.transpose(1, 2).flatten(0, 1)[case.slots]
                    error = (rows - right).norm() / right.norm()
                    self.assertLess(float(error), 0.04)
                    self.assertGreater(float(error), 0.01)

    def test_prompts_chunks_and_single_tokens_attend_to_what_they_should(self):
        sinks = torch.linspace(-1.0, 2.0, GROUP * KV_HEADS)
        for kind in KINDS:
            case = Case(*kind)
            case.quantize()
            for others in ({}, {"window": 24}, {"soft_cap": 2.0}, {"sinks": sinks}):
                with self.subTest(kind, **others):
                    self.assert_near(case.decode(**others), case.reference(**others), 1e-5)

    def test_sixteen_bit_models_differ_by_the_rounding_of_the_output(self):
        for dtype, limit in ((torch.bfloat16, 2**-8), (torch.float16, 2**-11)):
            case = Case("fp8_per_token_head", dtype=dtype)
            case.quantize()
            self.assert_near(case.decode(), case.reference(), limit)

    def test_padding_slots_write_nothing(self):
        case = Case()
        before = case.cache.clone()
        case.slots[:] = -1
        case.quantize()
        self.assertTrue(torch.equal(before, case.cache))

    def test_pages_without_a_meaning_are_refused_with_words(self):
        case = Case("fp8_per_token_head")
        for cache, words in (
            (case.cache[..., :-1], "cells of 135 bytes"),
            (case.cache.transpose(1, 2), "contiguous"),
            (case.cache[0], "not \\[blocks"),
        ):
            with self.assertRaisesRegex(ValueError, words):
                pages.page_view(cache, case.kv_cache_dtype)

    def test_declares_what_it_changes(self):
        case = Case()
        case.cache.zero_()
        opcheck(torch.ops.kvbudget.quantize_kv.default, case.quantize_arguments())
        output = torch.zeros(case.query.shape)
        opcheck(torch.ops.kvbudget.decode.default, case.decode_arguments(output))

    def test_a_compiled_graph_holds_them(self):
        def step(*arguments):
            torch.ops.kvbudget.quantize_kv(*arguments[:7])
            output = torch.zeros(arguments[7].shape)
            rest = arguments[8:]
            torch.ops.kvbudget.decode(arguments[7], arguments[2], output, *rest)
            return output

        case = Case("fp8_per_token_head")
        query, _, _, *rest = case.decode_arguments(None)
        compiled = torch.compile(step, fullgraph=True, backend="aot_eager")
        found = compiled(*case.quantize_arguments(), query, *rest)
        self.assert_near(found, case.reference(), 1e-5)


class LimitsTest(unittest.TestCase):
    def test_head_sizes_of_the_kernels_are_those_that_are_let_in(self):
        for head_size in range(16, 321, 16):
            problems = limits.layer_problems(8, 2, head_size, "decoder", None)
            cache = torch.zeros((2, 2, 16, 2 * head_size), dtype=torch.uint8)
            one = torch.tensor(1.0)
            try:
                pages.pages_of(cache, "fp8", one, one)
                self.assertEqual(problems, [])
            except ValueError:
                self.assertEqual(len(problems), 1)


if __name__ == "__main__":
    unittest.main(verbosity=2)
