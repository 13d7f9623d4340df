"""One greedy tenant before all others: each keeps the share that the plan gives it.

Eight blocks are one request of the burst; four of them fit.
"""

import collections

import engine
import pytest

LIFE = engine.LIFE_BLOCKS
TENANTS = [
    {"name": "greedy", "weight": 1},
    {"name": "modest", "weight": 1, "min_blocks": LIFE},
    {"name": "capped", "weight": 1, "max_blocks": LIFE},
]


@pytest.fixture(scope="module")
def shared():
    admission = {"mode": "strict", "tenants": TENANTS}
    with engine.strict({"admission": admission}) as llm:
        yield llm, engine.Watch(llm)


@pytest.fixture
def llm(shared):
    yield shared[0]
    engine.assert_idle(shared[0])
    shared[1].check()


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
