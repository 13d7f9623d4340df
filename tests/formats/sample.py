"""A folder of deployments that are hard on writers, for the tests beside this file."""

import os
import pathlib

POD = """apiVersion: v1
kind: Pod
metadata: {{name: {name}}}
spec:
  containers:
    - name: vllm
      image: vllm/vllm-openai:v0.18.0
      args: [--model=Qwen/Qwen2.5-7B-Instruct, '--served-model-name=\U0001f600 "größe" <&>',
             '\U0001f600ß', --swap-space=16, --max-modle-len=8192, --disable-log-requests,
             '--no-such-flag="a, b: 100% <x> {{0}} [y](z)"']
---
name: a
name: b
"""

# Paths with blanks, quotes, commas, colons, percent signs, a line break, bytes that are no UTF-8.
NAMES = [
    b"plain.yaml",
    b"with blank.yaml",
    b"quote'\"<&>.yaml",
    b"comma,colon:100%.yaml",
    b"line\nbreak.yaml",
    b"no-utf8-\xff\xfe.yaml",
    "größe-\U0001f600.yaml".encode(),
    b"#hash?query.yaml",
]


def fill(folder):
    """Files with findings of each severity, one without, one that is no text."""
    for i, name in enumerate(NAMES):
        path = os.path.join(os.fsencode(folder), name)
        pathlib.Path(os.fsdecode(path)).write_text(POD.format(name=f"chat-{i}"), encoding="utf-8")
    broken = b"a: \x01\x02\xff\xfe\x00\nmessage: \x1b[31mred\n"
    pathlib.Path(folder, "broken.yaml").write_bytes(broken)
    pathlib.Path(folder, "clean.yaml").write_text("a: 1\n")
