"""Observe mode: nothing is held or refused; a ledger beside the engine says what strict mode would do."""

import time

from kvbudget._core import ADMIT, HOLD, NEVER
from kvbudget.vllm import report
from kvbudget.vllm.budget import Budget


class Observer(Budget):
    """Every request goes at once. What the ledger would hold is in `_waiting`; how many requests run
    beyond those that it would have let go is the concurrency that strict mode would cost."""

    def __init__(self, settings, pool, now=time.monotonic, segment=None):
        super().__init__(settings, pool, now, segment)
        self.requests = 0
        self.would_hold = 0
        self.needed_blocks = 0  # by the requests in the engine now, for their whole lives
        self.peak_needed_blocks = 0
        self._needs = {}  # request id: (blocks, request), refused ones too
        self._waiting = set()  # keys
        self._steps = 0
        self._lost = 0  # requests, over all steps
        self.peak_lost = 0

    def admitted_ids(self):
        return list(self._needs)

    def _request(self, request_id):
        return self._needs.get(request_id, (0, None))[1]

    def add(self, request):
        self.release([request.request_id])
        answer, _, blocks = self._ask(request)
        self.requests += 1
        self.rejected += answer == NEVER
        if answer == HOLD:
            self.would_hold += 1
            self._waiting.add(self._known[request.request_id].key)
        self._needs[request.request_id] = blocks, request
        self.needed_blocks += blocks
        self.peak_needed_blocks = max(self.peak_needed_blocks, self.needed_blocks)
        return ADMIT, ""

    def release(self, request_ids):
        for request_id in request_ids:
            self.needed_blocks -= self._needs.pop(request_id, (0, None))[0]
            if request_id in self._known:
                self._waiting.discard(self._known[request_id].key)
        super().release(request_ids)

    def reconcile(self, free_blocks, held_blocks):
        """The engine holds more than the ledger let go; nothing is to be learned from it."""

    def promote(self):
        if self._waiting:
            self._waiting.difference_update(self._ledger.promote(self._now()))
        return []

    def stale(self):
        if not self._waiting:
            return []
        for key, _ in self._ledger.reject_stale(self._now()):
            del self._known[self._ids.pop(key)]
            self._waiting.discard(key)
            self.rejected += 1
        return []

    def stepped(self, preemptions, running):
        super().stepped(preemptions, running)
        lost = max(0, running - (len(self._known) - len(self._waiting)))
        self._steps += 1
        self._lost += lost
        self.peak_lost = max(self.peak_lost, lost)

    @property
    def concurrency_lost(self):
        return self._lost / self._steps if self._steps else 0.0

    def _shadow(self):
        return self.requests, self.would_hold, self.rejected, self.concurrency_lost

    def statistics(self):
        return super().statistics() | {
            "requests": self.requests,
            "would_hold": self.would_hold,
            "would_reject": self.rejected,
            "would_preempt": self.preemptions,
            "concurrency_lost": self.concurrency_lost,
            "peak_concurrency_lost": self.peak_lost,
            "peak_needed_blocks": self.peak_needed_blocks,
        }

    def report(self):
        lost = self.concurrency_lost
        said = report.text(self.would_hold, self.rejected, self.requests, self.preemptions, lost)
        return (
            f"{said}, {self.peak_lost} at most; all requests at once needed at most "
            f"{self.peak_needed_blocks} of {self.budget_blocks} blocks"
        )


def make_budget(settings, pool, now=time.monotonic, segment=None):
    return (Observer if settings.mode == "observe" else Budget)(settings, pool, now, segment)
