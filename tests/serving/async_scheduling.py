"""Async scheduling on the CPU, where vLLM turns it off: its runner copies tokens on a CUDA stream.
On one device there is nothing to wait for, so that streams and events can be stand-ins; the
scheduler and the engine's core, with its queue of batches in flight, are the true ones (0.32)."""

import contextlib
from unittest import mock

import torch
from vllm.platforms.cpu import CpuPlatform


class _Nothing:
    """A stream or event: every method is there and does nothing."""

    device = torch.device("cpu")

    def __init__(self, *_, **__):
        pass

    def __getattr__(self, _):
        return lambda *_, **__: None


@contextlib.contextmanager
def allowed():
    check = CpuPlatform.check_and_update_config

    def keeping(vllm_config):
        wanted = vllm_config.scheduler_config.async_scheduling
        check(vllm_config)
        vllm_config.scheduler_config.async_scheduling = wanted

    replacements = {
        "Stream": _Nothing,
        "Event": _Nothing,
        "stream": lambda _: contextlib.nullcontext(),
        "current_stream": _Nothing,
    }
    with (
        mock.patch.object(CpuPlatform, "check_and_update_config", staticmethod(keeping)),
        mock.patch.multiple(torch.cuda, **replacements),
        mock.patch.object(torch, "Event", _Nothing),
    ):
        yield
