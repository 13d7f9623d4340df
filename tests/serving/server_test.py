"""The server over HTTP, with the `openai` client: what never fits is the client's mistake (400),
what finds everything full is to try again (429), /metrics shows the ledger, and clients that leave
free what they had.

The API server and the engine are processes of their own here, as they are in production. An answer
takes most of the budget and longer than the tests, so that nothing depends on how fast it comes.
"""

import json
import os
import re
import socket
import subprocess
import sys
import time
import urllib.request

import engine
import openai
import pytest

BLOCKS, BUDGET, MAX_MODEL_LEN, MAX_PENDING = 257, 200, 8192, 2
LONG_TOKENS, LONG_BLOCKS = 6000, 190  # with 60 prompt tokens, of 32 each
START_SECONDS, WAIT_SECONDS = 900, 120


def free_port():
    with socket.socket() as listening:
        listening.bind(("127.0.0.1", 0))
        return listening.getsockname()[1]


def command(port, plan):
    setting = {"kvbudget": {"plan": plan, "mode": "strict"}}
    return [
        *(sys.executable, "-m", "vllm.entrypoints.openai.api_server"),
        *("--host", "127.0.0.1", "--port", str(port)),
        *("--model", str(engine.FOLDER / "model"), "--served-model-name", "tiny"),
        *("--dtype", "float32", "--enforce-eager", "--block-size", str(engine.BLOCK_TOKENS)),
        *("--max-model-len", str(MAX_MODEL_LEN), "--max-num-seqs", str(engine.MAX_NUM_SEQS)),
        *("--kv-cache-memory-bytes", str(64 << 20), "--num-gpu-blocks-override", str(BLOCKS)),
        *("--scheduler-cls", "kvbudget.vllm.make_scheduler"),
        *("--middleware", "kvbudget.vllm.middleware.Admission"),
        *("--additional-config", json.dumps(setting)),
    ]


class Server:
    def __init__(self, process, port, log):
        self.process, self.url, self.log = process, f"http://127.0.0.1:{port}", log
        self.client = openai.OpenAI(base_url=f"{self.url}/v1", api_key="none", max_retries=0)

    def get(self, path):
        with urllib.request.urlopen(self.url + path, timeout=30) as answer:
            return answer.read().decode()

    def metric(self, name, **labels):
        """The value, of the one sample that has these labels."""
        for line in self.get("/metrics").splitlines():
            sample = re.fullmatch(rf"kvbudget_{name}(?:\{{(.*)\}})? (\S+)", line)
            if sample and all(f'{k}="{v}"' in (sample[1] or "") for k, v in labels.items()):
                return float(sample[2])
        return None

    def wait_for(self, holds, seconds=WAIT_SECONDS):
        end = time.monotonic() + seconds
        while not holds():
            assert self.process.poll() is None, self.said()
            assert time.monotonic() < end, self.said()
            time.sleep(0.1)

    def is_up(self):
        try:
            return self.get("/health") is not None
        except OSError:
            return False

    def said(self):
        return self.log.read_text()[-4000:]

    def complete(self, max_tokens, tokens=engine.PROMPT_TOKENS, **arguments):
        return self.client.completions.create(
            model="tiny",
            prompt=engine.prompt(0, tokens)["prompt_token_ids"],
            max_tokens=max_tokens,
            temperature=0,
            extra_body={"ignore_eos": True},
            **arguments,
        )


@pytest.fixture(scope="module")
def server():
    port, log = free_port(), engine.FOLDER / "server.log"
    plan = engine.write_plan(
        num_blocks=BLOCKS,
        usable_blocks=BUDGET,
        max_model_len=MAX_MODEL_LEN,
        admission={"mode": "strict", "max_pending": MAX_PENDING},
    )
    environment = {k: v for k, v in os.environ.items() if k != "VLLM_ENABLE_V1_MULTIPROCESSING"}
    with log.open("w") as file:
        process = subprocess.Popen(
            command(port, plan), env=environment, stdout=file, stderr=subprocess.STDOUT
        )
    try:
        started = Server(process, port, log)
        started.wait_for(started.is_up, START_SECONDS)
        yield started
    finally:
        process.terminate()
        try:
            process.wait(60)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()


def test_what_fits_is_answered(server):
    answer = server.complete(16)
    assert answer.usage.completion_tokens == 16
    assert server.metric("budget_blocks") == BUDGET
    assert server.metric("admitted_total") == 1
    assert server.metric("rejected_total", reason="pending_full") == 0


def test_what_never_fits_is_the_clients_mistake(server):
    with pytest.raises(openai.BadRequestError) as raised:
        server.complete(7000, tokens=100)
    assert raised.value.status_code == 400
    assert "100 prompt tokens and up to 7000 more need 222 KV blocks" in str(raised.value)
    assert f"the budget is {BUDGET}" in str(raised.value)
    with pytest.raises(openai.APIError, match="need 222 KV blocks"):
        list(server.complete(7000, tokens=100, stream=True))  # 200, and an event that says so


def test_what_finds_everything_full_is_to_try_again(server):
    streams = [server.complete(LONG_TOKENS, stream=True)]
    server.wait_for(lambda: server.metric("reserved_blocks") == LONG_BLOCKS)
    for waiting in range(1, MAX_PENDING + 1):
        streams.append(server.complete(LONG_TOKENS, stream=True))
        server.wait_for(lambda n=waiting: server.metric("pending_requests", tenant="default") == n)
    with pytest.raises(openai.RateLimitError) as raised:
        server.complete(16)
    assert raised.value.status_code == 429
    assert int(raised.value.response.headers["retry-after"]) >= 1
    assert "2 requests wait for KV blocks" in str(raised.value)
    assert server.metric("held_total") == MAX_PENDING
    for stream in streams:  # held ones and the one that runs
        stream.close()
    server.wait_for(lambda: server.metric("reserved_blocks") == 0)
    assert server.metric("pending_requests", tenant="default") == 0
    assert server.metric("reconcile_drift_blocks") == 0
    assert server.complete(16).usage.completion_tokens == 16
