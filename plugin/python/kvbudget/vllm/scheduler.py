"""vLLM's scheduler with the budget before it.

A mixin over the engine's own class, whichever of the two it would have taken, that overrides methods
of `vllm/v1/core/sched/interface.py` alone and passes their arguments through. Requests that are held
are not known to the parent. What is refused or aborted while held goes through the parent, added and
finished at once, so that connectors and data-parallel bookkeeping see it as any other request.
"""

import logging
import os
import time

from kvbudget._core import HOLD, NEVER
from kvbudget.vllm import budget, contract, groups, live, observe, plan, segment, settings

_logger = logging.getLogger("vllm.kvbudget")

# Steps between two looks at the blocks of every request, where no frees are late: a look takes about a
# millisecond with 256 requests.
_RECONCILE_STEPS = 512


class BudgetMixin:
    """Class attributes that scheduler_class sets: `engine_version`, `engine_types`."""

    def __init__(self, *args, **kwargs):
        vllm_config, kv_cache_config = kwargs["vllm_config"], kwargs["kv_cache_config"]
        wanted = settings.parse(vllm_config.additional_config)
        self._kvb_verify(wanted, vllm_config, kv_cache_config)
        self._kvb_hides = False
        self._kvb_steps = 0
        self._kvb_refused = []  # (request, why), to be told with the next outputs
        self._kvb_seconds = 0.0  # that steps took here
        self._kvb_late_blocks = 0  # at the last look
        self.kvb_drift_blocks = 0  # the most at a look
        super().__init__(*args, **kwargs)
        pool = self._kvb_pool(wanted, vllm_config, kv_cache_config, kwargs.get("hash_block_size"))
        if contract.excluded_by(os.environ):
            _logger.warning(
                "kvbudget: VLLM_PLUGINS=%s leaves kvbudget out: there are no metrics, and requests that "
                "never fit are answered with 500; add kvbudget to it",
                os.environ["VLLM_PLUGINS"],
            )
        self.kvb = observe.make_budget(wanted, pool, segment=self._kvb_segment(wanted, vllm_config))
        self._kvb_file = live.BudgetFile(wanted.budget_file) if wanted.budget_file else None
        self._kvb_adjust()
        self.kvb.publish(0, 0, 0, 0.0)
        _logger.info(
            "kvbudget %s: %d of %d KV blocks, checked against %s",
            wanted.mode,
            pool.budget_blocks,
            pool.capacity_blocks,
            "the plan" if wanted.plan else "no plan",
        )

    @staticmethod
    def _kvb_segment(wanted, vllm_config):
        if wanted.share is False:
            return None
        return segment.writer_name(wanted.share, segment.rank_of(vllm_config))

    def _kvb_verify(self, wanted, vllm_config, kv_cache_config):
        if wanted.plan is not None:
            plan.verify(
                wanted.plan, plan.engine_of(self.engine_version, vllm_config, kv_cache_config)
            )
        unknown = groups.problems(vllm_config, kv_cache_config)
        if unknown and wanted.mode == "strict":
            raise ValueError(
                "kvbudget: strict mode cannot promise anything here: "
                + "; ".join(unknown)
                + '; start it with "mode": "optimistic" or "observe"'
            )
        for problem in unknown:
            _logger.warning("kvbudget: %s; counted as full attention", problem)

    def _kvb_pool(self, wanted, vllm_config, kv_cache_config, hash_block_size):
        # Some blocks may be taken for ever already, the null block and attention sinks.
        capacity = self.kv_cache_manager.block_pool.get_num_free_blocks()
        watermark = getattr(self.kv_cache_manager, "watermark_blocks", 0)
        usable = capacity - watermark
        if wanted.plan is not None and wanted.plan["usable_blocks"] > usable:
            raise ValueError(
                f"kvbudget: the plan has {wanted.plan['usable_blocks']} usable_blocks, the engine "
                f"{usable} (of {capacity}, --watermark keeps {watermark})"
            )
        if wanted.plan is not None:
            usable = wanted.plan["usable_blocks"]
        scheduler_config = vllm_config.scheduler_config
        copies = vllm_config.cache_config.enable_prefix_caching and groups.copies_partial_blocks(
            kv_cache_config, self.block_size, hash_block_size
        )
        return budget.Pool(
            groups=groups.groups_of(vllm_config, kv_cache_config),
            capacity_blocks=capacity,
            usable_blocks=capacity - watermark,
            budget_blocks=usable,
            block_tokens=self.block_size,
            max_model_len=vllm_config.model_config.max_model_len,
            lookahead_tokens=self.num_spec_tokens + self.num_lookahead_tokens,
            partial_block=bool(copies),
            by_priority=str(scheduler_config.policy) == "priority",
        )

    # ---- arrival and end

    def add_request(self, request):
        if request.request_id in self.requests:  # more input for a session
            return super().add_request(request)
        if self.kvb.is_held(request.request_id):
            return self.kvb.follow(request)
        self._kvb_adjust()
        answer, why = self.kvb.add(request)
        if answer == HOLD:
            return None
        if answer == NEVER:
            return self._kvb_refuse(request, why)
        return super().add_request(request)

    def _kvb_refuse(self, request, why):
        _logger.warning("request %s rejected: %s", request.request_id, why)
        status = self.engine_types.RequestStatus.FINISHED_ERROR
        super().add_request(request)
        super().finish_requests(request.request_id, status)
        self._kvb_refused.append((request, why))

    def finish_requests(self, request_ids, finished_status):
        if request_ids is not None and not isinstance(request_ids, str):
            request_ids = set(request_ids)  # it may be an iterator
        for request in self.kvb.take_held(request_ids):
            super().add_request(request)
        return super().finish_requests(request_ids, finished_status)

    # ---- each step

    def schedule(self, *args, **kwargs):
        started = time.perf_counter()
        self._kvb_adjust()
        self.kvb.settle(self.finished_req_ids)
        self.kvb.grow()
        self._kvb_reconcile()
        if self.pause_state == self.engine_types.PauseState.UNPAUSED:
            for request in self.kvb.promote():
                super().add_request(request)
        for request, why in self.kvb.stale():
            self._kvb_refuse(request, why)
        self._kvb_seconds += time.perf_counter() - started
        output = super().schedule(*args, **kwargs)
        started = time.perf_counter()
        self.kvb.stepped(len(output.preempted_req_ids or ()), len(self.running))
        late = self._kvb_late_blocks
        held = max(0, self._kvb_used_blocks() - late)
        self.kvb.publish(held, late, self._kvb_steps, self._kvb_seconds)
        self._kvb_seconds += time.perf_counter() - started
        return output

    def _kvb_adjust(self):
        changed = self._kvb_file.changed() if self._kvb_file else None
        if changed is None:
            return
        before = self.kvb.budget_blocks
        try:
            self.kvb.adjust(*changed)
        except ValueError as error:
            _logger.error("kvbudget: the budget stays at %d KV blocks: %s", before, error)
            return
        _logger.info("kvbudget: the budget is %d KV blocks, was %d", self.kvb.budget_blocks, before)

    def _kvb_reconcile(self):
        """Frees can be late where a connector or a step in flight still uses the blocks; then every
        step is looked at, since what is late cannot be promised to anyone."""
        used = self._kvb_used_blocks()
        free = self.kvb.pool.capacity_blocks - used
        self._kvb_steps += 1
        is_due = self.kvb.settings.audit or self._kvb_steps % _RECONCILE_STEPS == 1
        if not is_due and self.connector is None and not getattr(self, "deferred_frees", None):
            return self.kvb.reconcile(free, used)
        held = self._kvb_held_blocks()
        self._kvb_late_blocks = max(0, used - held)
        self.kvb_drift_blocks = max(self.kvb_drift_blocks, abs(used - held))
        return self.kvb.reconcile(free, held)

    def _kvb_used_blocks(self):
        free = self.kv_cache_manager.block_pool.get_num_free_blocks()
        return self.kvb.pool.capacity_blocks - free

    def _kvb_held_blocks(self):
        """Distinct blocks of live requests; those of a shared prefix count once."""
        blocks = set()
        for request_id in self.kvb.admitted_ids():
            for of_group in self.kv_cache_manager.get_block_ids(request_id):
                blocks.update(of_group)
        blocks.discard(self.kv_cache_manager.block_pool.null_block.block_id)
        return len(blocks)

    def update_from_output(self, *args, **kwargs):
        outputs = super().update_from_output(*args, **kwargs)
        types = self.engine_types
        for request, why in self._kvb_refused:
            if request.client_index not in outputs:
                outputs[request.client_index] = types.EngineCoreOutputs(outputs=[])
            outputs[request.client_index].outputs.append(
                types.EngineCoreOutput(
                    request_id=request.request_id,
                    new_token_ids=[],
                    finish_reason=types.FinishReason.ERROR,
                    stop_reason=why,
                )
            )
        self._kvb_refused.clear()
        return outputs

    # ---- counts: held requests wait, though the parent does not know them

    def _kvb_stock(self, method, *args, **kwargs):
        """The parent's answer as if nothing were held: some of its counts build on others."""
        self._kvb_hides = True
        try:
            return method(*args, **kwargs)
        finally:
            self._kvb_hides = False

    def get_request_counts(self):
        running, waiting = super().get_request_counts()
        return running, waiting + (0 if self._kvb_hides else self.kvb.held_requests)

    def get_num_unfinished_requests(self):
        count = self._kvb_stock(super().get_num_unfinished_requests)
        if self.pause_state != self.engine_types.PauseState.UNPAUSED:
            return count  # nothing new is started, held ones stay
        return count + self.kvb.held_requests

    def has_finished_requests(self):
        return self._kvb_stock(super().has_finished_requests)

    def make_stats(self, *args, **kwargs):
        stats = self._kvb_stock(super().make_stats, *args, **kwargs)
        if stats is not None:
            stats.num_waiting_reqs += self.kvb.held_requests
        return stats

    def shutdown(self, *args, **kwargs):
        _logger.info("kvbudget %s", self.kvb.report())
        self.kvb.close()
        return super().shutdown(*args, **kwargs)


class _EngineTypes:
    """What is made of the engine's types, imported once it is there."""

    def __init__(self):
        from vllm.v1.core.sched.interface import PauseState
        from vllm.v1.engine import EngineCoreOutput, EngineCoreOutputs, FinishReason
        from vllm.v1.request import RequestStatus

        self.PauseState = PauseState
        self.EngineCoreOutput = EngineCoreOutput
        self.EngineCoreOutputs = EngineCoreOutputs
        self.FinishReason = FinishReason
        self.RequestStatus = RequestStatus


def scheduler_class(vllm_config):
    """The engine's own class for this configuration, guarded. Extending the other one would cost
    async scheduling, which is most of an engine's speed."""
    from vllm import __version__
    from vllm.v1.core.sched.async_scheduler import AsyncScheduler
    from vllm.v1.core.sched.scheduler import Scheduler

    base = AsyncScheduler if vllm_config.scheduler_config.async_scheduling else Scheduler
    contract.require(__version__, base)
    parts = {"engine_version": __version__, "engine_types": _EngineTypes()}
    return type(f"Budget{base.__name__}", (BudgetMixin, base), parts)
