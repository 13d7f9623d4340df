"""Tests of a real engine, on the CPU, in one process: importing vLLM takes longer than most tests.

Engines live one after the other, each in as many tests as can share it. Tokens are compared in
float32, since another order of sums changes greedy answers in bfloat16; and with AVX2, which every
machine has, so that they are the same everywhere.
"""

import os

os.environ |= {
    "HF_HUB_OFFLINE": "1",
    "VLLM_NO_USAGE_STATS": "1",
    "VLLM_ENABLE_V1_MULTIPROCESSING": "0",  # the scheduler is to be looked at
    "VLLM_CPU_OMP_THREADS_BIND": "nobind",
    "OMP_NUM_THREADS": "1",
}

import avx2  # noqa: E402, F401, I001  # before vLLM asks
import engine  # noqa: E402  # vLLM reads its environment when it is imported
import model  # noqa: E402
import pytest  # noqa: E402


def pytest_collection_modifyitems(items):
    """Speculation last: engines after one that speculates fail in the same process."""
    items.sort(key=lambda item: "speculation" in item.nodeid)


def pytest_terminal_summary(terminalreporter):
    for line in engine.figures:
        terminalreporter.write_line(line)


@pytest.fixture(scope="session", autouse=True)
def tiny_model():
    model.make(engine.FOLDER / "model")


@pytest.fixture(scope="session")
def stock(tiny_model):
    """The burst in the engine as it comes."""
    with engine.stock() as llm:
        return engine.burst(llm)


@pytest.fixture
def watched():
    """Watches engines; what they showed is checked when the test is over."""
    watches = []

    def watch(llm):
        watches.append(engine.Watch(llm))
        return watches[-1]

    yield watch
    for one in watches:
        one.check()


@pytest.fixture
def llm(shared):
    """The engine that a module's tests share, and its watch: idle and exact again after every test."""
    yield shared[0]
    engine.assert_idle(shared[0])
    shared[1].check()
