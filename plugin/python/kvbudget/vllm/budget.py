"""Admission by the ledger, without the engine: which requests may go, wait, or never will.

A request is anything with request_id, num_prompt_tokens, max_tokens, num_output_tokens, priority,
resumable, sampling_params and lora_request (vllm/v1/request.py). Its whole life is reserved when it
is admitted; what is held stays here, unseen by the engine, until the ledger lets it go.
"""

import dataclasses
import itertools
import logging
import time

from kvbudget._core import DEFAULT_TENANTS, HOLD, NEVER, Ledger, OutputLengths, reason_text
from kvbudget.vllm import segment, settings, tenants

_logger = logging.getLogger("vllm.kvbudget")

_NO_MAXIMUM = 2**64 - 1
_ENGINE_MODES = {name: mode for mode, name in segment.MODES.items()}


def explain(reason, prompt_tokens, max_tokens, blocks, budget_blocks):
    return (
        f"kvbudget: {reason}: {prompt_tokens} prompt tokens and up to {max_tokens} more need "
        f"{blocks} KV blocks, the budget is {budget_blocks}"
    )


@dataclasses.dataclass(frozen=True)
class Pool:
    """The engine's blocks, and what decides how many of them a request needs."""

    groups: object  # kvbudget._core.Groups
    capacity_blocks: int  # that it can hand out
    usable_blocks: int  # of them, without those that it keeps back: the most that a budget can be
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
    """Strict and optimistic mode. `segment` names the shared memory for the figures."""

    def __init__(self, wanted, pool, now=time.monotonic, segment=None):
        self.settings = wanted
        self.pool = pool
        self.budget_blocks = pool.budget_blocks  # in force
        self.preemptions = 0
        self.rejected = 0
        self._now = now
        self._is_optimistic = wanted.mode == "optimistic"
        self._lengths = OutputLengths()
        self._ledger = Ledger(
            pool.capacity_blocks,
            pool.budget_blocks,
            not self._is_optimistic,
            wanted.max_pending,
            wanted.max_hold_seconds,
        )
        self._tenants = {t.name: self._tenant(t) for t in wanted.tenants}
        self._keys = itertools.count(1)
        self._known = {}  # request id: _Entry, admitted and held
        self._ids = {}  # key: request id
        self._held = {}  # request id: the request and what came for it since
        self.segment = self._shared(segment)

    def _shared(self, name):
        """The segment that was made, if any. One that the operator named has to be made."""
        if name is None:
            return None
        pool = self.pool
        self._ledger.describe(
            _ENGINE_MODES[self.settings.mode],
            pool.groups.rows(),
            pool.lookahead_tokens,
            pool.max_model_len,
            pool.partial_block,
        )
        try:
            self._ledger.share(name)
        except ValueError as error:
            if self.settings.share:
                raise ValueError(f"kvbudget: {name}: {error}") from error
            _logger.warning("kvbudget: %s: %s; no figures are shared", name, error)
            return None
        return name

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
        return self._tenants.get(tenants.tenant_of(request, self._tenants), 0)

    def _ask(self, request):
        """The ledger's answer, why for a request that will never go, and the blocks of its life."""
        output_tokens = self._output_tokens(request)
        blocks = self.blocks_needed(request, output_tokens)
        key = next(self._keys)
        tenant, now = self._tenant_of(request), self._now()
        if self.pool.by_priority:
            answer = self._ledger.admit_by_priority(key, tenant, blocks, now, request.priority)
        else:
            answer = self._ledger.admit(key, tenant, blocks, now)
        if answer == NEVER:
            return answer, self._explain(request, blocks, self._ledger.reason), blocks
        self._known[request.request_id] = _Entry(key, request, blocks, output_tokens)
        self._ids[key] = request.request_id
        return answer, "", blocks

    def _explain(self, request, blocks, reason):
        prompt_tokens, most = request.num_prompt_tokens, request.max_tokens
        return explain(reason_text(reason), prompt_tokens, most, blocks, self.budget_blocks)

    def add(self, request):
        """(ADMIT, HOLD or NEVER, why never). A held request is kept here. One of this id that the
        engine has finished with may not be settled yet."""
        self.release([request.request_id])
        answer, why, _ = self._ask(request)
        if answer == HOLD:
            self._held[request.request_id] = [request]
        if answer == NEVER:
            self.rejected += 1
        return answer, why

    def follow(self, request):
        """More input for a session that is held. Of two requests with one id the first is kept, as
        is its reservation: the engine knows one request for each id."""
        held = self._held[request.request_id]
        if held[0].resumable:
            held.append(request)
        else:
            _logger.warning("request %s is held already; it is not added again", request.request_id)

    # ---- each step

    def adjust(self, blocks, rows):
        """Another budget and other tenants, by what `budget_file` says; ValueError where they cannot be,
        and nothing changes. What is admitted stays, and nothing is added until it fits again."""
        blocks = self.pool.budget_blocks if blocks is None else blocks
        wanted = {t.name: t for t in (*self.settings.tenants, *rows)}
        minima = sum(t.min_blocks for t in wanted.values())
        if blocks > self.pool.usable_blocks:
            raise ValueError(f"{blocks} budget_blocks, the engine has {self.pool.usable_blocks}")
        if minima > blocks:
            raise ValueError(f"{blocks} budget_blocks, the tenants' minima are {minima} together")
        for tenant in wanted.values():
            if tenant.max_blocks is not None and tenant.min_blocks > tenant.max_blocks:
                raise ValueError(f"min_blocks of tenant {tenant.name} is above its max_blocks")
            if not tenant.weight > 0:
                raise ValueError(f"weight of tenant {tenant.name} is {tenant.weight}")
        if len(wanted.keys() | self._tenants.keys() | {tenants.DEFAULT}) > DEFAULT_TENANTS:
            raise ValueError(f"more than {DEFAULT_TENANTS} tenants, with those from before")
        for name in self._tenants:  # nothing stands in the way of the budget
            self._tenant(settings.Tenant(name))
        self._ledger.set_budget(blocks)
        self._tenants |= {name: self._tenant(tenant) for name, tenant in wanted.items()}
        self.budget_blocks = blocks

    def settle(self, request_ids):
        """The engine has finished with them, but an id may have come back since."""
        requests = ((i, self._request(i)) for i in request_ids)
        self.release([i for i, request in requests if request and request.is_finished()])

    def _request(self, request_id):
        entry = self._known.get(request_id)
        return entry.request if entry else None

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

    def stepped(self, preemptions, running):
        """What the engine's step did; `running` requests are in its batch."""
        self.preemptions += preemptions
        for _ in range(preemptions):
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

    def publish(self, held_blocks, drift_blocks, steps, step_seconds):
        if self.segment is not None:
            self._ledger.publish(
                held_blocks, drift_blocks, steps, step_seconds, self.preemptions, *self._shadow()
            )

    def _shadow(self):
        """(requests, held, refused, concurrency lost) by strict mode, where it is only watched."""
        return 0, 0, 0, 0.0

    def close(self):
        """The segment goes at once, not when the process is torn down."""
        if self.segment is not None:
            self._ledger.unshare()
            self.segment = None
