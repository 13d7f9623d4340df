"""Observe mode in words: what strict mode would have done, for logs."""

import logging
import time

from kvbudget.vllm import metrics

_logger = logging.getLogger("vllm.kvbudget")

_EVERY_SECONDS = 60.0


def text(held, rejected, requests, preemptions, concurrency_lost):
    return (
        f"observe: strict mode would have held {held} and rejected {rejected} of {requests} requests "
        f"and avoided {preemptions} preemptions, with {concurrency_lost:.1f} requests fewer running "
        "on average"
    )


def of_figures(figures):
    engine = figures["engine"]
    return text(
        engine["would_hold_total"],
        engine["would_reject_total"],
        engine["requests_total"],
        engine["preemptions_total"],
        engine["concurrency_lost"],
    )


class Reporter:
    """Says it from the API server, since the server kills its engines without waiting for them
    (vllm/v1/engine/utils.py, 0.32): at most once a minute, when a count has changed."""

    def __init__(self, read, now=time.monotonic):
        self._read = read
        self._now = now
        self._next = now() + _EVERY_SECONDS
        self._said = {}  # rank: counts

    def maybe(self):
        if self._now() >= self._next:
            self._next = self._now() + _EVERY_SECONDS
            self.say()

    def say(self):
        for rank, figures in self._read().items():
            engine = figures["engine"]
            counts = [engine[k] for k in ("would_hold_total", "would_reject_total", "preemptions_total")]
            if metrics.observes(figures) and self._said.get(rank) != counts:
                self._said[rank] = counts
                _logger.info("kvbudget engine %d: %s", rank, of_figures(figures))
