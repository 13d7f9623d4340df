"""Requests that leave before they are done, held or running; requests that never fit; a cache that
is reset: nothing stays reserved, nothing hangs, and who stays is answered as ever.

One engine whose budget is less than its pool: three of the burst's requests fit. Prefixes are
cached.
"""

import engine
import pytest

BUDGET = 24


@pytest.fixture(scope="module")
def shared():
    with engine.strict({"usable_blocks": BUDGET}, enable_prefix_caching=True) as llm:
        yield llm, engine.Watch(llm)


@pytest.fixture
def busy(llm):
    """Three requests run, three are held: r0 to r5, those of the burst."""
    for i in range(6):
        engine.add(llm, f"r{i}", i)
    scheduler = engine.scheduler_of(llm)
    engine.run(llm, until=lambda: len(scheduler.running) == 3)
    assert scheduler.get_request_counts() == (3, 3)
    assert scheduler.kvb.held_requests == 3
    return llm


def assert_finished(finished, stock, names):
    assert sorted(finished) == sorted(names)
    for name in names:
        assert list(finished[name].token_ids) == stock.tokens[int(name[1:])]


def test_requests_are_aborted_while_held_and_while_running(busy, stock):
    busy.llm_engine.abort_request(["r1", "r5"])
    assert engine.scheduler_of(busy).kvb.held_requests == 2
    assert_finished(engine.run(busy), stock, ["r0", "r2", "r3", "r4"])


def test_an_aborted_request_makes_room_at_the_next_step(busy, stock):
    busy.llm_engine.abort_request(["r0"])
    busy.llm_engine.step()
    scheduler = engine.scheduler_of(busy)
    assert scheduler.kvb.held_requests == 2
    assert len(scheduler.running) == 3
    assert_finished(engine.run(busy), stock, ["r1", "r2", "r3", "r4", "r5"])


def test_nothing_hangs_when_all_clients_leave(busy, stock):
    busy.llm_engine.abort_request([f"r{i}" for i in range(6)])
    assert not busy.llm_engine.has_unfinished_requests()
    engine.assert_idle(busy)
    engine.add(busy, "r7", 7)
    assert_finished(engine.run(busy), stock, ["r7"])


def test_all_held_requests_leave_and_the_running_ones_finish(busy, stock):
    busy.llm_engine.abort_request(["r3", "r4", "r5"])
    assert_finished(engine.run(busy), stock, ["r0", "r1", "r2"])


def test_a_cache_cannot_be_reset_under_running_requests(busy, stock):
    assert not busy.reset_prefix_cache()
    assert_finished(engine.run(busy), stock, [f"r{i}" for i in range(6)])
    engine.assert_idle(busy)
    assert busy.reset_prefix_cache()


def test_running_requests_that_a_reset_throws_out_come_back_in_order(busy, stock):
    for _ in range(20):
        busy.llm_engine.step()
    assert busy.reset_prefix_cache(reset_running_requests=True)
    scheduler = engine.scheduler_of(busy)
    assert scheduler.kvb.held_requests == 3  # nobody takes the place of those that came first
    assert_finished(engine.run(busy), stock, [f"r{i}" for i in range(6)])


def test_what_never_fits_is_told_at_once_and_nobody_waits_behind_it(llm, stock):
    engine.add(llm, "never", 0, tokens=100, max_tokens=engine.MAX_MODEL_LEN - 100)
    answer = engine.run(llm)["never"]  # of an idle engine
    assert answer.finish_reason == "error"
    assert "100 prompt tokens and up to 924 more need 32 KV blocks" in answer.stop_reason
    assert f"the budget is {BUDGET}" in answer.stop_reason
    engine.add(llm, "never again", 0, tokens=100, max_tokens=engine.MAX_MODEL_LEN - 100)
    engine.add(llm, "r2", 2)
    finished = engine.run(llm)
    assert finished.pop("never again").finish_reason == "error"
    assert_finished(finished, stock, ["r2"])


def test_each_answer_of_several_to_a_prompt_is_reserved(llm):
    engine.add(llm, "four", 3, n=4, temperature=1.0, seed=1)
    scheduler = engine.scheduler_of(llm)
    engine.run(llm, until=lambda: len(scheduler.running) == 3)
    statistics = scheduler.kvb.statistics()
    assert (statistics["admitted"], statistics["pending"]) == (3, 1)
    answers = {}
    while llm.llm_engine.has_unfinished_requests():
        for output in llm.llm_engine.step():
            answers |= {o.index: len(o.token_ids) for o in output.outputs}
    assert answers == dict.fromkeys(range(4), engine.OUTPUT_TOKENS)
