"""One greedy tenant before all others: each keeps the share that the plan gives it, and a
budget that is lowered or raised under way costs no request.

Eight blocks are one request of the burst; four of them fit.
"""

import collections
import json
import time

import engine
import pytest

LIFE = engine.LIFE_BLOCKS
BUDGET_FILE = engine.FOLDER / "budget.json"
LOOK_SECONDS = 1.1  # the file is looked at once a second
TENANTS = [
    {"name": "greedy", "weight": 1},
    {"name": "modest", "weight": 1, "min_blocks": LIFE},
    {"name": "capped", "weight": 1, "max_blocks": LIFE},
]


@pytest.fixture(scope="module")
def shared():
    BUDGET_FILE.unlink(missing_ok=True)
    admission = {"mode": "strict", "tenants": TENANTS}
    with engine.strict({"admission": admission}, {"budget_file": str(BUDGET_FILE)}) as llm:
        yield llm, engine.Watch(llm)


def add(llm, tenant, count):
    for i in range(count):
        engine.add(llm, f"{tenant} {i}", i, extra_args={"kvbudget_tenant": tenant})


def reserved(llm):
    """Blocks by tenant, over admitted requests."""
    kvb, blocks = engine.scheduler_of(llm).kvb, collections.Counter()
    for name in kvb.admitted_ids():
        blocks[name.split()[0]] += kvb.reserved_for(name)
    return blocks


def run(llm):
    """The finished requests in order, and the blocks by tenant at each step."""
    finished, seen = {}, []
    while llm.llm_engine.has_unfinished_requests():
        outputs = llm.llm_engine.step()
        finished |= {o.request_id: list(o.outputs[0].token_ids) for o in outputs if o.finished}
        seen.append(reserved(llm))
    return finished, seen


def assert_answers(finished, stock, **counts):
    assert collections.Counter(name.split()[0] for name in finished) == counts
    for name, tokens in finished.items():
        assert tokens == stock.tokens[int(name.split()[1])]


def test_a_minimum_stays_free_for_its_tenant(llm, stock):
    add(llm, "greedy", 8)
    llm.llm_engine.step()
    assert reserved(llm) == {"greedy": 3 * LIFE}
    add(llm, "modest", 1)
    llm.llm_engine.step()
    assert reserved(llm) == {"greedy": 3 * LIFE, "modest": LIFE}
    finished, _ = run(llm)
    assert list(finished).index("modest 0") <= 4
    assert_answers(finished, stock, greedy=8, modest=1)


def test_tenants_that_wait_share_by_weight(llm, stock):
    add(llm, "greedy", 8)
    add(llm, "modest", 4)
    finished, seen = run(llm)
    assert max(s["modest"] for s in seen) == 2 * LIFE
    waiting = [s for s in seen if s["modest"] == 2 * LIFE]
    assert all(s["greedy"] == 2 * LIFE for s in waiting)
    last_modest = max(i for i, name in enumerate(finished) if name.startswith("modest"))
    assert last_modest < len(finished) - 2  # in order of arrival they would have been the last
    assert_answers(finished, stock, greedy=8, modest=4)


def test_a_maximum_holds_in_an_empty_engine(llm, stock):
    add(llm, "capped", 3)
    finished, seen = run(llm)
    assert max(s["capped"] for s in seen) == LIFE
    assert_answers(finished, stock, capped=3)


def test_a_budget_that_is_lowered_and_raised_costs_no_request(llm, stock):
    add(llm, "greedy", 8)
    llm.llm_engine.step()
    assert reserved(llm) == {"greedy": 3 * LIFE}
    BUDGET_FILE.write_text(json.dumps({"budget_blocks": 2 * LIFE}))  # one is the modest tenant's
    time.sleep(LOOK_SECONDS)
    finished = engine.run(llm, until=lambda: reserved(llm)["greedy"] < 3 * LIFE)
    assert len(finished) == 3  # nobody lost what it had
    assert reserved(llm) == {"greedy": LIFE}
    BUDGET_FILE.unlink()
    time.sleep(LOOK_SECONDS)
    llm.llm_engine.step()
    assert reserved(llm) == {"greedy": 3 * LIFE}
    finished |= engine.run(llm)
    tokens = {name: list(output.token_ids) for name, output in finished.items()}
    assert_answers(tokens, stock, greedy=8)
