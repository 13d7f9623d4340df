"""Attention on FP8 pages inside a real engine, on a machine that has AVX2 and no more: prompts in
chunks, cached prefixes and mixed batches, each output compared with the definition over the very
bytes of the pages; a checkpoint's own scales; and compiled graphs.

    attention_test.py FOLDER [KVBUDGET]    a folder for the model; the program, for plans
"""

import contextlib
import gc
import json
import os
import pathlib
import subprocess
import sys
import unittest

os.environ |= {
    "HF_HUB_OFFLINE": "1",
    "VLLM_NO_USAGE_STATS": "1",
    "VLLM_ENABLE_V1_MULTIPROCESSING": "0",  # layers are to be looked at
    "VLLM_CPU_OMP_THREADS_BIND": "nobind",
    "OMP_NUM_THREADS": "1",
}

import avx2  # noqa: E402  # before vLLM asks
import model  # noqa: E402
import torch  # noqa: E402
from attention_reference import attend_batch, read_cells  # noqa: E402
from vllm import LLM, SamplingParams, __version__  # noqa: E402
from vllm.distributed import cleanup_dist_env_and_memory  # noqa: E402
from vllm.model_executor.models.llama import LlamaDecoderLayer  # noqa: E402
from vllm.v1.attention import selector  # noqa: E402

from kvbudget import _kernels  # noqa: E402
from kvbudget.vllm import attention, contract  # noqa: E402
from kvbudget.vllm.plan import bytes_per_block  # noqa: E402

FOLDER = pathlib.Path(sys.argv.pop(1) if len(sys.argv) > 1 else "build/attention").resolve()
PROGRAM = sys.argv.pop(1) if len(sys.argv) > 1 else None
os.environ["VLLM_CACHE_ROOT"] = str(FOLDER / "compiled")
BLOCK_TOKENS, MAX_MODEL_LEN, CACHE_BYTES = 32, 512, 4 << 20
LAYERS, KV_HEADS, HEAD_SIZE, WINDOW = 2, 2, 64, 48
FP8 = ("fp8", "fp8_per_token_head")
MIXED = FP8 if contract.release_of(__version__) > (0, 24) else FP8[:1]  # beside skipped layers


SHAPE = {
    "num_hidden_layers": LAYERS,
    "num_attention_heads": 2 * KV_HEADS,
    "num_key_value_heads": KV_HEADS,
    "head_dim": HEAD_SIZE,
}


def engine(kv_cache_dtype, model="model", **arguments):
    return LLM(
        model=str(FOLDER / model),
        kv_cache_dtype=kv_cache_dtype,
        max_model_len=MAX_MODEL_LEN,
        max_num_seqs=8,
        block_size=BLOCK_TOKENS,
        kv_cache_memory_bytes=CACHE_BYTES,
        enable_prefix_caching=True,
        enable_chunked_prefill=True,
        max_num_batched_tokens=64,
        disable_log_stats=False,
        **({"dtype": "bfloat16", "enforce_eager": True} | arguments),
    )


def close(llm):
    llm.llm_engine.engine_core.shutdown()
    del llm
    gc.collect()
    cleanup_dist_env_and_memory()


def prompt(i, tokens):
    return {"prompt_token_ids": [6 + (i * 7 + j * j) % 250 for j in range(tokens)]}


def sampling(max_tokens):
    return SamplingParams(temperature=0, max_tokens=max_tokens, ignore_eos=True)


def answers(llm, prompts, max_tokens):
    outputs = llm.generate(prompts, sampling(max_tokens), use_tqdm=False)
    return [list(o.outputs[0].token_ids) for o in outputs]


def index_of(layer):
    return int(layer.layer_name.split(".")[2])


def metric(llm, name):
    return {m.name: m.value for m in llm.get_metrics() if hasattr(m, "value")}[name]


class Watched:
    """Compares every output of the backend with the reference, while it is entered; `others`: what the
    reference is to know of the model beside its sizes."""

    def __init__(self, **others):
        self.others = others

    def __enter__(self):
        from kvbudget.vllm.attention.cpu import CpuImpl

        self.impl, self.forward = CpuImpl, CpuImpl.forward
        self.worst, self.steps, self.pieces, self.layers = 0.0, 0, set(), set()

        def forward(impl, layer, query, key, value, kv_cache, metadata, output, *rest, **others):
            self.forward(impl, layer, query, key, value, kv_cache, metadata, output, *rest, **others)
            if metadata is not None and impl.kvb is not None:
                self.compare(impl, layer, query, kv_cache, metadata.batch, output)
            return output

        CpuImpl.forward = forward
        return self

    def __exit__(self, *_):
        self.impl.forward = self.forward

    def compare(self, impl, layer, query, kv_cache, batch, output):
        right = attend_batch(
            query, kv_cache, batch.block_table, batch.lengths, batch.query_starts, impl.head_size,
            layer._k_scale, layer._v_scale, impl.scale, **self.others,
        )  # fmt: skip
        tokens = int(batch.query_starts[-1])
        difference = (output[:tokens].float() - right[:tokens]).abs().max() / right.abs().max()
        self.worst = max(self.worst, float(difference))
        self.steps += 1
        self.pieces.update(batch.query_starts.diff().tolist())
        self.layers.add(index_of(layer))


class Calls:
    """Counts the calls of a method while it is entered, and looks at each when it is over."""

    def __init__(self, owner, name, look=lambda *_: None):
        self.owner, self.name, self.look = owner, name, look
        self.count = 0

    def __enter__(self):
        self.method = getattr(self.owner, self.name)

        def call(*arguments, **keywords):
            result = self.method(*arguments, **keywords)
            self.count += 1
            self.look(*arguments)
            return result

        setattr(self.owner, self.name, call)
        return self

    def __exit__(self, *_):
        setattr(self.owner, self.name, self.method)


def scales_of(strategy):
    """[layers, keys and values, 1 or KV heads]: all different and no powers of two."""
    count = 1 if strategy == "tensor" else KV_HEADS
    return 0.03 + 0.01 * torch.arange(LAYERS * 2 * count).view(LAYERS, 2, count)


def make_scaled(strategy):
    """The model with static scales as llm-compressor writes them; returns its folder's name."""
    scheme = {"type": "float", "num_bits": 8, "symmetric": True, "dynamic": False}
    tensors = {}
    for layer, scales in enumerate(scales_of(strategy)):
        for name, scale in zip("kv", scales):
            shape = scale if strategy == "tensor" else scale.view(-1, 1, 1)
            tensors[f"model.layers.{layer}.self_attn.{name}_scale"] = shape.to(torch.bfloat16)
    model.make(
        FOLDER / strategy,
        tensors,
        **SHAPE,
        quantization_config={
            "quant_method": "compressed-tensors",
            "format": "float-quantized",
            "config_groups": {},
            "ignore": ["lm_head"],
            "kv_cache_scheme": scheme | {"strategy": strategy},
        },
    )
    return strategy


class AttentionTest(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        model.make(FOLDER / "model", **SHAPE)

    def test_a_without_the_plugin_the_engine_refuses_fp8_on_this_machine(self):
        with self.assertRaisesRegex(Exception, "AVX-512|on this host"):  # to 0.32, from 0.33
            engine("fp8")
        gc.collect()
        cleanup_dist_env_and_memory()
        self.assertEqual(avx2.loaded_extensions(), ["_C_AVX2.abi3.so"])
        self.assertEqual(_kernels.cpu_isa(), "avx2")
        self.assertTrue(attention.register())
        self.assertFalse(attention.register())
        selector._cached_get_attn_backend.cache_clear()

    def test_b_serves_with_chunks_cached_prefixes_and_mixed_batches(self):
        """Prompts of 150 tokens in chunks of at most 64 beside others that decode."""
        for kv_cache_dtype in FP8:
            with self.subTest(kv_cache_dtype):
                llm = engine(kv_cache_dtype)
                try:
                    self.serve(llm)
                    self.check_cache(llm, kv_cache_dtype)
                finally:
                    close(llm)

    def serve(self, llm):
        prompts = [prompt(0, 5), prompt(1, 150), prompt(2, 33), prompt(3, 64)]
        with Watched() as watched:
            first = answers(llm, prompts, 12)
            hits = metric(llm, "vllm:prefix_cache_hits")
            again = answers(llm, prompts, 12)
        self.assertEqual(first, again)
        self.assertGreater(metric(llm, "vllm:prefix_cache_hits"), hits)
        self.assertGreater(watched.steps, 2 * 12 * LAYERS)
        self.assertLessEqual({1, 8}, watched.pieces)
        self.assertLess(watched.worst, 1.01 * 2**-8)  # the output is rounded to bfloat16, once

    def check_cache(self, llm, kv_cache_dtype):
        core = llm.llm_engine.engine_core.engine_core
        config = core.scheduler.kv_cache_config
        cells = LAYERS * KV_HEADS * BLOCK_TOKENS
        cell = 2 * HEAD_SIZE + (8 if kv_cache_dtype == "fp8_per_token_head" else 0)
        self.assertEqual(bytes_per_block(config), cells * cell)
        self.assertEqual(config.num_blocks, CACHE_BYTES // (cells * cell))
        self.assert_plan(config, kv_cache_dtype)

    def assert_plan(self, config, kv_cache_dtype):
        if PROGRAM is None:
            return
        path, start = FOLDER / "plan.json", FOLDER / "start.sh"
        start.write_text(
            f"vllm serve {FOLDER / 'model'} --kv-cache-dtype {kv_cache_dtype} --block-size "
            f"{BLOCK_TOKENS} --max-model-len {MAX_MODEL_LEN} --kv-cache-memory-bytes {CACHE_BYTES}\n"
        )
        command = [PROGRAM, "plan", "--engine", f"vllm@{__version__.split('+')[0]}", "--gpu", "L4"]
        # vLLM preloads libraries, which a program with a sanitizer does not start with.
        environment = {name: value for name, value in os.environ.items() if name != "LD_PRELOAD"}
        subprocess.run([*command, "-o", path, start], check=True, env=environment)
        planned = json.loads(path.read_text())
        self.assertEqual(planned["num_blocks"], config.num_blocks)
        self.assertEqual(planned["bytes_per_block"], bytes_per_block(config))

    def test_c_leaves_layers_of_sixteen_bits_to_the_engine(self):
        for kv_cache_dtype, skipped in (("auto", ()), *((one, ("0",)) for one in MIXED)):
            with self.subTest(kv_cache_dtype):
                with self.assertLogs("vllm.kvbudget") if not skipped else contextlib.nullcontext():
                    llm = engine(
                        kv_cache_dtype, dtype="float32", kv_cache_dtype_skip_layers=list(skipped)
                    )
                try:
                    with Watched() as watched:
                        (answer,) = answers(llm, [prompt(1, 150)], 4)
                    self.assertEqual(len(answer), 4)
                    self.assertEqual(watched.layers, {1} if skipped else set())
                    self.assertLess(watched.worst, 1e-5)
                finally:
                    close(llm)

    def test_c_sees_the_window_of_a_model_that_slides_one(self):
        """The engine takes away the blocks that it has left behind."""
        name = "mistral"
        model.make(
            FOLDER / name,
            **SHAPE,
            architectures=["MistralForCausalLM"],
            model_type=name,
            sliding_window=WINDOW,
        )
        llm = engine("fp8_per_token_head", name, dtype="float32")
        try:
            with Watched(window=WINDOW) as watched:
                answers(llm, [prompt(0, 5), prompt(1, 150)], 24)
            self.assertEqual(watched.layers, set(range(LAYERS)))
            self.assertLess(watched.worst, 1e-5)
        finally:
            close(llm)

    def test_d_takes_a_checkpoints_own_scales(self):
        """Also where the checkpoint asks for FP8 and the command line leaves it to that."""
        for strategy, kv_cache_dtype in (("tensor", "fp8"), ("attn_head", "auto")):
            with self.subTest(strategy):
                llm = engine(kv_cache_dtype, make_scaled(strategy))
                try:
                    self.serve(llm)
                    self.check_scales(llm, scales_of(strategy))
                finally:
                    close(llm)

    def check_scales(self, llm, scales):
        """What is written comes back with the scales of the checkpoint, and not with those of 1."""
        from kvbudget.vllm.attention.cpu import CpuImpl

        def look(impl, layer, key, value, kv_cache, slots):
            own = scales[index_of(layer)].to(torch.bfloat16).float()
            cells = read_cells(kv_cache, HEAD_SIZE, *own)
            for found, right in zip(cells, (key, value)):
                rows = found.transpose(1, 2).flatten(0, 1)[slots]
                error = (rows - right[: len(slots)]).norm() / right[: len(slots)].norm()
                self.assertLess(float(error), 0.04)

        with Calls(CpuImpl, "do_kv_cache_update", look) as writes:
            answers(llm, [prompt(9, 90)], 4)
        self.assertEqual(writes.count, (2 + 3) * LAYERS)

    def test_e_compiled_graphs_answer_as_the_eager_engine_does(self):
        """Graphs are vLLM's default; on CPUs, one of the whole model that calls attention. The layer's
        own Python runs in the eager engine alone."""
        found, calls = [], []
        for eager in (True, False):
            llm = engine("fp8_per_token_head", dtype="float32", enforce_eager=eager)
            try:
                prompts = [prompt(0, 5), prompt(1, 150), prompt(2, 33)]
                with Calls(LlamaDecoderLayer, "forward") as layers, Watched() as watched:
                    found.append(answers(llm, prompts, 24))
                calls.append(layers.count)
                self.assertGreater(watched.steps, 24 * LAYERS)
                self.assertLess(watched.worst, 1e-5)
            finally:
                close(llm)
        self.assertEqual(found[0], found[1])
        self.assertGreater(calls[0], 24 * LAYERS)
        self.assertEqual(calls[1], 0)

    def test_f_refuses_what_it_cannot_serve(self):
        """Last, since vLLM keeps a connector that it has made."""
        from vllm.config import KVTransferConfig

        connector = KVTransferConfig(kv_connector="ExampleConnector", kv_role="kv_both")
        with self.assertRaisesRegex(ValueError, "KV connectors"):
            engine("fp8", kv_transfer_config=connector)


if __name__ == "__main__":
    unittest.main(verbosity=2)
