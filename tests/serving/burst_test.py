"""The burst that makes the engine preempt: guarded, it never does, and every answer is the same."""

from unittest import mock

import async_scheduling
import engine
import lora
from vllm.lora.request import LoRARequest
from vllm.platforms.cpu import CpuPlatform


def assert_guarded(llm, name, stock, **arguments):
    """The burst in a strict engine against the one in the engine as it comes."""
    guarded = engine.burst(llm, **arguments)
    engine.figures.append(
        f"{name}: preemptions stock {stock.preemptions}, strict {guarded.preemptions}"
    )
    assert stock.preemptions > 0
    assert guarded.preemptions == 0
    assert guarded.tokens == stock.tokens
    scheduler = engine.scheduler_of(llm)
    assert scheduler.kvb.preemptions == 0
    assert scheduler.kvb.statistics()["held_total"] >= engine.REQUESTS - 4  # 4 lives fit
    engine.assert_idle(llm)


def test_strict_mode_never_preempts_and_changes_no_token(stock, watched):
    assert stock.preemptions == engine.STOCK_PREEMPTIONS
    with engine.strict() as llm:
        watch = watched(llm)
        assert_guarded(llm, "sync", stock)
        assert watch.steps > 4 * engine.OUTPUT_TOKENS
        statistics = engine.scheduler_of(llm).kvb.statistics()
        assert statistics["peak_reserved_blocks"] == engine.USABLE


def test_observe_mode_changes_nothing_and_says_what_strict_would_do(stock):
    with engine.guarded() as llm:
        assert engine.burst(llm) == stock
        statistics = engine.scheduler_of(llm).kvb.statistics()
        assert statistics["preemptions"] == engine.STOCK_PREEMPTIONS
        assert statistics["would_hold"] == engine.REQUESTS - 4  # 4 lives fit
        assert statistics["peak_needed_blocks"] == engine.REQUESTS * engine.LIFE_BLOCKS
        engine.assert_idle(llm)


def test_optimistic_mode_answers_the_same(stock):
    with engine.strict(setting={"mode": "optimistic"}) as llm:
        optimistic = engine.burst(llm)
        engine.figures.append(f"optimistic: preemptions {optimistic.preemptions}")
        assert optimistic.tokens == stock.tokens
        assert optimistic.preemptions <= stock.preemptions
        engine.assert_idle(llm)


def test_strict_mode_with_prefixes_from_the_cache(watched):
    with engine.stock(enable_prefix_caching=True) as llm:
        own = engine.burst(llm)
        shared = engine.burst(llm, engine.shared_prefix_prompt)
    assert own.preemptions == engine.STOCK_PREEMPTIONS
    with engine.strict(enable_prefix_caching=True) as llm:
        watched(llm)
        assert_guarded(llm, "prefix caching", own)
        assert_guarded(llm, "shared prefixes", shared, prompt_of=engine.shared_prefix_prompt)
        assert engine.metric(llm, "vllm:prefix_cache_hits") > 0


def test_strict_mode_with_prompts_in_chunks(stock, watched):
    chunks = {"max_num_batched_tokens": 64, "max_num_seqs": 16, "enable_chunked_prefill": True}
    with engine.stock(**chunks) as llm:
        chunked = engine.burst(llm)
    assert chunked.tokens == stock.tokens
    with engine.strict({"max_num_seqs": 16}, **chunks) as llm:
        watched(llm)
        assert_guarded(llm, "chunked prefill", chunked)


def test_strict_mode_with_async_scheduling(stock, watched):
    with async_scheduling.allowed(), engine.stock(async_scheduling=True) as llm:
        assert type(engine.scheduler_of(llm)).__name__ == "AsyncScheduler"
        assert llm.llm_engine.engine_core.engine_core.batch_queue_size == 2
        assert engine.burst(llm) == stock
    for name, caching in {"async": False, "async, prefix caching": True}.items():
        arguments = {"async_scheduling": True, "enable_prefix_caching": caching}
        with async_scheduling.allowed(), engine.strict(**arguments) as llm:
            assert type(engine.scheduler_of(llm)).__name__ == "BudgetAsyncScheduler"
            watched(llm)
            assert_guarded(llm, name, stock)


def test_strict_mode_with_an_adapter(stock, watched):
    adapter = LoRARequest("adapter", 1, str(lora.make(engine.FOLDER / "adapter")))
    # The second slot stays empty: requests without an adapter read the last one (0.32 on CPUs,
    # vllm/lora/ops/torch_ops/lora_ops.py takes index -1).
    arguments = {"enable_lora": True, "max_loras": 2, "max_lora_rank": lora.RANK}
    requests = {"lora_request": [adapter if i % 2 else None for i in range(engine.REQUESTS)]}
    with engine.stock(**arguments) as llm:
        adapted = engine.burst(llm, **requests)
    assert adapted.tokens[0::2] == stock.tokens[0::2]
    assert all(a != b for a, b in zip(adapted.tokens[1::2], stock.tokens[1::2], strict=True))
    with engine.strict(**arguments) as llm:
        watched(llm)
        assert_guarded(llm, "LoRA", adapted, **requests)


def test_strict_mode_with_speculation(stock, watched):
    """Drafts take slots beyond the tokens that are accepted."""
    speculative = {
        "method": "ngram",
        "num_speculative_tokens": 3,
        "prompt_lookup_min": 1,
        "prompt_lookup_max": 3,
    }
    with engine.stock(speculative_config=speculative) as llm:
        speculating = engine.burst(llm)
        assert engine.metric(llm, "vllm:spec_decode_num_accepted_tokens") > 0
    assert speculating.tokens == stock.tokens
    # A second registration in one process trips over numba (vllm/triton_utils/dispatcher.py, 0.32).
    registered = mock.patch.object(CpuPlatform, "register_triton_kernel_overrides", lambda _: None)
    with registered, engine.strict(speculative_config=speculative) as llm:
        watched(llm)
        assert_guarded(llm, "n-gram speculation", speculating)
