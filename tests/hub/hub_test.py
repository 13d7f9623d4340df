#!/usr/bin/env python3
"""`--hub` against a hub of our own on this machine.

    hub_test.py PROGRAM

The server has one open model, one behind a token, one whose weights are a single file; it counts what
it is asked for. The test's last line says how many checks passed.
"""

import collections
import http.server
import json
import os
import pathlib
import struct
import subprocess
import sys
import tempfile
import threading

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "support"))
import checks as counter

CONFIG = {
    "architectures": ["LlamaForCausalLM"],
    "model_type": "llama",
    "num_hidden_layers": 2,
    "hidden_size": 256,
    "num_attention_heads": 2,
    "intermediate_size": 512,
    "vocab_size": 640,
    "max_position_embeddings": 2048,
    "torch_dtype": "bfloat16",
}
HEADER = json.dumps({"w": {"dtype": "BF16", "shape": [8], "data_offsets": [0, 16]}}).encode()
SINGLE = struct.pack("<Q", len(HEADER)) + HEADER + bytes(16)

asked = collections.Counter()


class Hub(http.server.BaseHTTPRequestHandler):
    def do_GET(self):
        asked[self.path] += 1
        gated = self.path.startswith("/org/gated/")
        if gated and self.headers.get("Authorization") != "Bearer secret":
            return self.answer(401, b"")
        if self.path == "/org/moved/resolve/main/config.json":
            self.send_response(302)
            self.send_header("Location", "/org/open/resolve/main/config.json")
            self.end_headers()
            return None
        if self.path.endswith("/config.json") and "/missing/" not in self.path:
            return self.answer(200, json.dumps(CONFIG).encode())
        if self.path == "/org/open/resolve/main/model.safetensors":
            first, last = self.headers["Range"].removeprefix("bytes=").split("-")
            return self.answer(206, SINGLE[int(first) : int(last) + 1])
        return self.answer(404, b"")

    def answer(self, status, body):
        self.send_response(status)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_):
        pass


def run(program, model, cache, endpoint, token="", hub=True, more=()):
    env = {"HOME": cache, "PATH": os.environ["PATH"], "XDG_CACHE_HOME": cache}
    env |= {"HF_ENDPOINT": endpoint, "HF_TOKEN": token}
    words = [program, "estimate", "--gpu", "L4", "--engine", "vllm@0.19.0"]
    words += ["--hub"] if hub else []
    return subprocess.run(
        words + ["--", "vllm", "serve", model, *more], env=env, capture_output=True, text=True, check=False
    )


def checks(program, endpoint, cache):
    yield "without the flag nothing is asked", (
        run(program, "org/open", cache, endpoint, hub=False).returncode == 3 and not asked
    )
    result = run(program, "org/open", cache, endpoint)
    yield "a model is fetched and judged", result.returncode == 0 and "starts" in result.stdout
    index = pathlib.Path(cache, "kvbudget/hub/org/open/model.safetensors.index.json")
    yield "weight bytes come from the header", (
        json.loads(index.read_text())["metadata"]["total_size"] == 16
    )
    before = sum(asked.values())
    run(program, "org/open", cache, endpoint)
    yield "a second run asks nothing", sum(asked.values()) == before
    refused = run(program, "org/gated", cache, endpoint)
    yield "a gated model says so", "401" in refused.stdout + refused.stderr
    yield "a token opens it", run(program, "org/gated", cache, endpoint, "secret").returncode == 0
    draft = json.dumps(
        {"method": "draft_model", "model": "org/draft", "num_speculative_tokens": 2}
    )
    run(program, "org/open", cache, endpoint, more=("--speculative-config", draft))
    yield "a draft is fetched too", asked["/org/draft/resolve/main/config.json"] == 1
    yield "redirects are followed", run(program, "org/moved", cache, endpoint).returncode == 0
    absent = run(program, "org/missing/", cache, endpoint)
    yield "a name that is none is refused", "no name of a model" in absent.stdout + absent.stderr
    absent = run(program, "org/missing", cache, endpoint)
    yield "a missing model says so", "404" in absent.stdout + absent.stderr
    away = run(program, "org/away", cache, "http://127.0.0.1:9")
    yield "a hub that is away is an answer too", "not on the hub" in away.stdout + away.stderr
    unset = run(program, "org/open", cache, "")
    yield "the hub's address is asked for", unset.returncode == 2 and "HF_ENDPOINT" in unset.stderr


def main():
    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Hub)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    endpoint = f"http://127.0.0.1:{server.server_address[1]}"
    with tempfile.TemporaryDirectory() as cache:
        counter.check_all(checks(sys.argv[1], endpoint, cache))
    counter.finish()


if __name__ == "__main__":
    main()
