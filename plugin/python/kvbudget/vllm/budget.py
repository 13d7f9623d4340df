"""Admission by the ledger, without the engine: which requests may go, wait, or never will.

A request is anything with request_id, num_prompt_tokens, max_tokens, num_output_tokens, priority,
resumable, sampling_params and lora_request (vllm/v1/request.py). Its whole life is reserved when it
is admitted; what is held stays here, unseen by the engine, until the ledger lets it go.
"""

import dataclasses
import itertools
import time

from kvbudget._core import ADMIT, HOLD, NEVER, Ledger, OutputLengths, reason_text

_NO_MAXIMUM = 2**64 - 1
TENANT_ARGUMENT = "kvbudget_tenant"  # of sampling_params.extra_args; "vllm_xargs" over HTTP


@dataclasses.dataclass(frozen=True)
class Pool:
    """The engine's blocks, and what decides how many of them a request needs."""

    groups: object  # kvbudget._core.Groups
    capacity_blocks: int  # that it can hand out
    budget_blocks: int
    block_tokens: int
    max_model_len: int
    lookahead_tokens: int = 0
    partial_block: bool = False
    by_priority: bool = False


@dataclasses.dataclass(slots=True)
class _Entry:
    key: int
    request: object
    blocks: int
    output_tokens: int  # that the blocks are for


class Budget:
    """Strict and optimistic mode."""

    def __init__(self, settings, pool, now=time.monotonic):
        self.settings = settings
        self.pool = pool
        self.preemptions = 0
        self.rejected = 0
        self._now = now
        self._is_optimistic = settings.mode == "optimistic"
        self._lengths = OutputLengths()
        self._ledger = Ledger(
            pool.capacity_blocks,
            pool.budget_blocks,
            not self._is_optimistic,
            settings.max_pending,
            settings.max_hold_seconds,
        )
        self._tenants = {t.name: self._tenant(t) for t in settings.tenants}
        self._keys = itertools.count(1)
        self._known = {}  # request id: _Entry, admitted and held
        self._ids = {}  # key: request id
        self._held = {}  # request id: the request and what came for it since
        if settings.share:
            self._ledger.share(settings.share)

    def _tenant(self, tenant):
        largest = _NO_MAXIMUM if tenant.max_blocks is None else tenant.max_blocks
        return self._ledger.tenant(tenant.name, tenant.weight, tenant.min_blocks, largest)

    # ---- what is known

    @property
    def held_requests(self):
        return len(self._held)

    def is_held(self, request_id):
        return request_id in self._held

    def admitted_ids(self):
        return [i for i in self._known if i not in self._held]

    def reserved_for(self, request_id):
        return self._known[request_id].blocks

    def statistics(self):
        return self._ledger.statistics() | {
            "mode": self.settings.mode,
            "preemptions": self.preemptions,
            "rejected": self.rejected,
        }

    def report(self):
        s = self.statistics()
        return (
            f"{s['mode']}: {s['admitted_total']} requests admitted, {s['held_total']} of them held "
            f"at first, {self.rejected} rejected, {self.preemptions} preemptions, at most "
            f"{s['peak_reserved_blocks']} of {s['budget_blocks']} blocks reserved"
        )

    # ---- arrival

    def blocks_needed(self, request, output_tokens):
        pool = self.pool
        return pool.groups.blocks_needed(
            request.num_prompt_tokens,
            output_tokens,
            pool.lookahead_tokens,
            pool.max_model_len,
            pool.partial_block,
        )

    def _output_tokens(self, request):
        if request.resumable:  # a session that more input may follow in
            return self.pool.max_model_len
        return self._lengths.assumed(request.max_tokens) if self._is_optimistic else request.max_tokens

    def _tenant_of(self, request):
        if not self._tenants:
            return 0
        extra = getattr(request.sampling_params, "extra_args", None) or {}
        lora = request.lora_request
        for name in (extra.get(TENANT_ARGUMENT), lora.lora_name if lora else None):
            if name in self._tenants:
                return self._tenants[name]
        return 0

    def _ask(self, request):
        """The ledger's answer and, for a request that will never go, why."""
        output_tokens = self._output_tokens(request)
        blocks = self.blocks_needed(request, output_tokens)
        key = next(self._keys)
        answer, reason = self._ledger.admit(
            key,
            self._tenant_of(request),
            blocks,
            request.priority if self.pool.by_priority else 0,
            self._now(),
        )
        if answer == NEVER:
            return answer, self._explain(request, blocks, reason)
        self._known[request.request_id] = _Entry(key, request, blocks, output_tokens)
        self._ids[key] = request.request_id
        return answer, ""

    def _explain(self, request, blocks, reason):
        return (
            f"kvbudget: {reason_text(reason)}: {request.num_prompt_tokens} prompt tokens and up to "
            f"{request.max_tokens} more need {blocks} KV blocks, the budget is "
            f"{self.pool.budget_blocks}"
        )

    def add(self, request):
        """(ADMIT, HOLD or NEVER, why never). A held request is kept here."""
        answer, why = self._ask(request)
        if answer == HOLD:
            self._held[request.request_id] = [request]
        if answer == NEVER:
            self.rejected += 1
        return answer, why

    def follow(self, request):
        """More input for a session that is held."""
        self._held[request.request_id].append(request)

    # ---- each step

    def release(self, request_ids):
        """The engine is done with them; unknown ones are ignored."""
        keys = []
        for request_id in request_ids:
            entry = self._known.pop(request_id, None)
            if entry is None:
                continue
            keys.append(entry.key)
            del self._ids[entry.key]
            if self._held.pop(request_id, None) is None and self._is_optimistic:
                self._lengths.add(entry.request.num_output_tokens)
        if keys:
            self._ledger.release(keys)

    def take_held(self, request_ids):
        """Held requests that the engine is about to finish itself; None: all of them."""
        if request_ids is None:
            ids = list(self._held)
        else:
            ids = [request_ids] if isinstance(request_ids, str) else list(request_ids)
        return [self._held.pop(i)[0] for i in ids if i in self._held]

    def reconcile(self, free_blocks, held_blocks):
        """Blocks that are free, and distinct ones that admitted requests hold."""
        self._ledger.reconcile(free_blocks, held_blocks)

    def promote(self):
        """What may go now, in order."""
        if not self._held:
            return []
        keys = self._promote_anew() if self._is_optimistic else self._ledger.promote(self._now())
        ids = [self._ids[key] for key in keys]
        return [request for i in ids for request in self._held.pop(i)]

    def _promote_anew(self):
        """One at a time: what a request waits for was assumed when it came, and many answers may have
        ended since."""
        keys = []
        while waiting := self._ledger.next_held():
            for key in waiting:
                self._assume_anew(self._known[self._ids[key]])
            gone = self._ledger.promote(self._now(), 1)
            if not gone:
                break
            keys += gone
        return keys

    def _assume_anew(self, entry):
        output_tokens = self._output_tokens(entry.request)
        blocks = self.blocks_needed(entry.request, output_tokens)
        if blocks != entry.blocks and self._ledger.resize(entry.key, blocks):
            entry.blocks = blocks
            entry.output_tokens = output_tokens

    def stale(self):
        """(request, why) of those that waited too long."""
        if not self._held:
            return []
        out = []
        for key, reason in self._ledger.reject_stale(self._now()):
            request_id = self._ids.pop(key)
            entry = self._known.pop(request_id)
            del self._held[request_id]
            out.append((entry.request, self._explain(entry.request, entry.blocks, reason)))
        self.rejected += len(out)
        return out

    def preempted(self, count):
        self.preemptions += count
        for _ in range(count):
            self._lengths.preempted()

    def grow(self):
        """Optimistic mode: answers that are longer than was assumed take a block more."""
        if not self._is_optimistic:
            return
        for request_id, entry in self._known.items():
            so_far = entry.request.num_output_tokens
            if request_id in self._held or so_far < entry.output_tokens:
                continue
            if entry.output_tokens >= entry.request.max_tokens:
                continue
            more = min(entry.request.max_tokens, so_far + self.pool.block_tokens)
            entry.output_tokens = more
            entry.blocks = self.blocks_needed(entry.request, more)
            self._ledger.resize(entry.key, entry.blocks)

    def publish(self):
        if self.settings.share:
            self._ledger.publish()


class Observer(Budget):
    """Observe mode: every request goes at once; a ledger beside the engine counts what strict mode
    would have done."""

    def __init__(self, settings, pool, now=time.monotonic):
        super().__init__(settings, pool, now)
        self.requests = 0
        self.would_hold = 0
        self.needed_blocks = 0  # by the requests in the engine now, for their whole lives
        self.peak_needed_blocks = 0
        self._needs = {}

    def add(self, request):
        answer, _ = self._ask(request)
        self.requests += 1
        self.would_hold += answer == HOLD
        self.rejected += answer == NEVER
        blocks = self.blocks_needed(request, self._output_tokens(request))
        self._needs[request.request_id] = blocks
        self.needed_blocks += blocks
        self.peak_needed_blocks = max(self.peak_needed_blocks, self.needed_blocks)
        return ADMIT, ""

    def release(self, request_ids):
        for request_id in request_ids:
            self.needed_blocks -= self._needs.pop(request_id, 0)
        super().release(request_ids)

    def reconcile(self, free_blocks, held_blocks):
        """The engine holds more than the ledger let go; nothing is to be learned from it."""

    def promote(self):
        self._ledger.promote(self._now())
        return []

    def stale(self):
        for key, _ in self._ledger.reject_stale(self._now()):
            del self._known[self._ids.pop(key)]
        return []

    def statistics(self):
        return super().statistics() | {
            "requests": self.requests,
            "would_hold": self.would_hold,
            "would_reject": self.rejected,
            "peak_needed_blocks": self.peak_needed_blocks,
        }

    def report(self):
        return (
            f"observe: strict mode would have held {self.would_hold} and rejected {self.rejected} of "
            f"{self.requests} requests; {self.preemptions} preemptions; all requests at once needed "
            f"at most {self.peak_needed_blocks} of {self.pool.budget_blocks} blocks"
        )


def make_budget(settings, pool, now=time.monotonic):
    return (Observer if settings.mode == "observe" else Budget)(settings, pool, now)
