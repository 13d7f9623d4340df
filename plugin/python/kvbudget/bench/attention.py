"""How long a step spends inside attention with FP8 pages, beside vLLM's own attention on 16 bits, and how
long the whole step takes. All sequences share one prompt, whose blocks each then has in its cache."""

import statistics
import time

from kvbudget.bench import engines

MARGIN_TOKENS = 64


class Stopwatch:
    """Seconds inside the calls that it times, since it was last read."""

    def __init__(self):
        self.seconds = 0.0

    def timed(self, call):
        def measured(*arguments, **keywords):
            start = time.perf_counter()
            result = call(*arguments, **keywords)
            self.seconds += time.perf_counter() - start
            return result

        return measured

    def read(self):
        seconds, self.seconds = self.seconds, 0.0
        return seconds


def watch_layers(llm):
    """One stopwatch for the cache updates and the attention of all layers."""
    executor = llm.llm_engine.engine_core.engine_core.model_executor
    runner = executor.driver_worker.worker.model_runner
    watch = Stopwatch()
    for layer in runner.compilation_config.static_forward_context.values():
        for name in ("forward", "do_kv_cache_update"):
            setattr(layer.impl, name, watch.timed(getattr(layer.impl, name)))
    return watch


def step(llm, watch):
    start = time.perf_counter()
    llm.llm_engine.step()
    return time.perf_counter() - start, watch.read()


def measure(setup, arguments):
    """Medians of (seconds a step, seconds inside attention) while decoding, and sums for the prompt."""
    from vllm import SamplingParams

    context, count = arguments.context, arguments.sequences
    blocks = count * (context + arguments.steps + MARGIN_TOKENS)
    prompt = {"prompt_token_ids": [3 + (i * i * 7 + i) % 500 for i in range(context)]}
    with engines.engine(
        setup,
        arguments,
        max_model_len=context + arguments.steps + MARGIN_TOKENS,
        max_num_seqs=count,
        num_gpu_blocks_override=blocks // 32 + 2,
        kv_cache_memory_bytes=1 << 30,
        enable_prefix_caching=True,
    ) as llm:
        watch = watch_layers(llm)
        sampling = SamplingParams(temperature=0, max_tokens=arguments.steps, ignore_eos=True)
        llm.llm_engine.add_request("0", prompt, sampling)
        scheduler = llm.llm_engine.engine_core.engine_core.scheduler
        (first,) = scheduler.requests.values()
        prompt_steps = []
        while first.num_computed_tokens < context:
            prompt_steps.append(step(llm, watch))
        for i in range(1, count):
            llm.llm_engine.add_request(str(i), prompt, sampling)
        step(llm, watch)
        step(llm, watch)
        decode = [step(llm, watch) for _ in range(arguments.steps - 4)]
    return {
        "setup": setup.name,
        "step_ms": 1e3 * statistics.median(total for total, _ in decode),
        "attention_ms": 1e3 * statistics.median(inside for _, inside in decode),
        "prompt_s": sum(total for total, _ in prompt_steps),
        "prompt_attention_s": sum(inside for _, inside in prompt_steps),
    }


def run(arguments):
    rows = []
    for setup in engines.setups():
        rows.append(measure(setup, arguments))
        row, base = rows[-1], rows[0]
        print(
            f"{setup.name:26} attention {row['attention_ms']:.2f} ms a step "
            f"({base['attention_ms'] / row['attention_ms']:.2f} x), step {row['step_ms']:.2f} ms "
            f"({base['step_ms'] / row['step_ms']:.2f} x); prompt {row['prompt_s']:.1f} s, "
            f"attention {row['prompt_attention_s']:.1f} s",
            flush=True,
        )
    return rows
