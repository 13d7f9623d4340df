"""An engine that is not the plan's does not start, and says which flag would mend it."""

import copy
from unittest import mock

import engine
import kvbudget.vllm
import pytest


@pytest.fixture(scope="module")
def arguments():
    """What a real engine gives its scheduler."""
    with engine.strict():
        yield dict(engine.made_with)


def start(arguments, setting):
    config = copy.copy(arguments["vllm_config"])
    config.additional_config = {"kvbudget": {"share": False} | setting}
    return kvbudget.vllm.make_scheduler(**arguments | {"vllm_config": config})


CASES = {
    "model": ({"model": "org/other"}, "says org/other, the engine has", "--model org/other"),
    "dtype": ({"dtype": "bfloat16"}, "says bfloat16, the engine has float32", "--dtype bfloat16"),
    "KV dtype": (
        {"kv_cache_dtype": "fp8"},
        "says fp8, the engine has auto",
        "--kv-cache-dtype fp8",
    ),
    "block": ({"block_size": 16}, "says 16, the engine has 32", "--block-size 16"),
    "block bytes": ({"bytes_per_block": 4096}, "says 4096, the engine has 131072", "--block-size"),
    "blocks": ({"num_blocks": 65}, "says 65, the engine has 33", "--num-gpu-blocks-override 65"),
    "usable blocks": ({"usable_blocks": 33}, "33 usable_blocks, the engine 32", "--watermark"),
    "max-model-len": (
        {"max_model_len": 512},
        "says 512, the engine has 1024",
        "--max-model-len 512",
    ),
    "max-num-seqs": ({"max_num_seqs": 8}, "says 8, the engine has 64", "--max-num-seqs 8"),
    "version": (
        {"engine": {"name": "vllm", "versions": ["0.31.0"]}},
        "says 0.31.0, the engine has 0.32.0",
        "--engine",
    ),
    "parallel": ({"parallel": {"tp": 2}}, "says 2, the engine has 1", "--tensor-parallel-size 2"),
}


@pytest.mark.parametrize(("changes", "numbers", "flag"), CASES.values(), ids=CASES)
def test_each_difference_is_named_with_number_and_flag(changes, numbers, flag, arguments):
    with pytest.raises(ValueError, match="kvbudget: the ") as raised:
        start(arguments, {"plan": engine.write_plan(**changes)})
    assert numbers in str(raised.value)
    assert flag in str(raised.value)


def test_the_plan_of_the_engine_starts(arguments):
    scheduler = start(arguments, {"plan": engine.write_plan()})
    assert scheduler.kvb.statistics()["budget_blocks"] == engine.USABLE


def test_strict_mode_without_a_plan_does_not_start(arguments):
    with pytest.raises(ValueError, match="mode strict needs a plan; .*--additional-config"):
        start(arguments, {"mode": "strict"})


def test_a_release_that_is_not_known_does_not_start(arguments):
    with mock.patch("vllm.__version__", "0.99.0"):
        with pytest.raises(RuntimeError, match="vLLM 0.99.0 .* KVBUDGET_ALLOW_UNTESTED=1"):
            start(arguments, {"plan": engine.write_plan()})


def test_a_whole_engine_does_not_start_and_tells_all_differences():
    others = {"num_blocks": 65, "usable_blocks": 64, "max_num_seqs": 8, "dtype": "bfloat16"}
    with pytest.raises(ValueError, match="the engine is not the plan's") as raised:
        with engine.strict(others):
            pass
    for flag in ("--num-gpu-blocks-override 65", "--max-num-seqs 8", "--dtype bfloat16"):
        assert flag in str(raised.value)
