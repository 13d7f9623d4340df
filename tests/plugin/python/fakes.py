"""An engine's public surface without an engine: what the plugin reads and calls, no more.

The scheduler runs a request for max_tokens steps and takes its blocks as it grows; it preempts
nobody and raises where its pool is empty, so that a broken promise shows.
"""

import enum
import logging
from types import SimpleNamespace

logging.getLogger("vllm.kvbudget").addHandler(logging.NullHandler())  # not every rejection is shown


class RequestStatus(enum.IntEnum):
    WAITING = 1
    RUNNING = 2
    FINISHED_ABORTED = 10
    FINISHED_ERROR = 11


class PauseState(enum.IntEnum):
    UNPAUSED = 0
    PAUSED_NEW = 1


class FinishReason(enum.IntEnum):
    ERROR = 3


ENGINE_TYPES = SimpleNamespace(
    RequestStatus=RequestStatus,
    PauseState=PauseState,
    FinishReason=FinishReason,
    EngineCoreOutput=SimpleNamespace,
    EngineCoreOutputs=SimpleNamespace,
)


class FullAttentionSpec:
    block_size = 16


class SlidingWindowSpec:
    block_size = 16

    def max_admission_blocks_per_request(self, max_in_flight_tokens, max_model_len):
        return min(max_in_flight_tokens, max_model_len) // 16 + 4


class MambaSpec:
    block_size = 16
    mamba_cache_mode = "none"
    page_size_bytes = 100

    def max_memory_usage_bytes(self, vllm_config):
        return 100


class UniformTypeKVCacheSpecs:
    block_size = 16

    def __init__(self, *specs):
        self.kv_cache_specs = dict(enumerate(specs))


class RingSpec:
    block_size = 16


class Request(SimpleNamespace):
    def is_finished(self):
        return self.status >= RequestStatus.FINISHED_ABORTED


def request(name, prompt=16, output=15, **fields):
    """By default of 32 tokens with the one that is sampled last: two blocks of 16."""
    return Request(
        **{
            "request_id": name,
            "num_prompt_tokens": prompt,
            "max_tokens": output,
            "num_output_tokens": 0,
            "priority": 0,
            "resumable": False,
            "client_index": 0,
            "status": RequestStatus.WAITING,
            "sampling_params": SimpleNamespace(extra_args=None),
            "lora_request": None,
            "session_id": None,
            "cache_salt": None,
        }
        | fields
    )


def kv_cache_config(blocks=11, specs=(FullAttentionSpec(),)):
    return SimpleNamespace(
        num_blocks=blocks,
        kv_cache_tensors=[SimpleNamespace(size=blocks * 1024) for _ in range(2)],
        kv_cache_groups=[SimpleNamespace(kv_cache_spec=spec) for spec in specs],
    )


def vllm_config(setting=None, **parallel):
    sizes = {"tensor_parallel_size": 1, "pipeline_parallel_size": 1, "data_parallel_size": 1}
    return SimpleNamespace(
        additional_config={"kvbudget": setting} if setting is not None else {},
        model_config=SimpleNamespace(model="org/name", dtype="torch.bfloat16", max_model_len=256),
        cache_config=SimpleNamespace(cache_dtype="auto", block_size=16, enable_prefix_caching=False),
        parallel_config=SimpleNamespace(**(sizes | parallel)),
        scheduler_config=SimpleNamespace(
            max_num_seqs=64, max_num_batched_tokens=128, policy="fcfs", async_scheduling=False,
            scheduler_cls="kvbudget.vllm.make_scheduler",
        ),
    )


def plan(**changes):
    """Of the engine above."""
    return {
        "schema": 1,
        "model": "org/name",
        "engine": {"name": "vllm", "versions": ["0.32.0"]},
        "parallel": {"tp": 1, "pp": 1, "dp": 1},
        "kv_cache_dtype": "auto",
        "block_size": 16,
        "bytes_per_block": 2048,
        "num_blocks": 11,
        "usable_blocks": 10,
        "max_model_len": 256,
        "max_num_seqs": 64,
        "admission": {"mode": "strict"},
    } | changes


class Manager:
    """Blocks by request."""

    def __init__(self, blocks):
        self.usable = blocks - 1
        self.held = {}
        self.late = 0  # of finished requests that a transfer still reads
        self._next = 1
        self.block_pool = SimpleNamespace(
            get_num_free_blocks=self.free, null_block=SimpleNamespace(block_id=0)
        )

    def free(self):
        return self.usable - sum(map(len, self.held.values())) - self.late

    def grow(self, name, blocks):
        held = self.held.setdefault(name, [])
        while len(held) < blocks:
            if self.free() == 0:
                raise AssertionError(f"no block is free for {name}")
            held.append(self._next)
            self._next += 1

    def get_block_ids(self, name):
        return (self.held.get(name, []),)


class Scheduler:
    def __init__(self, vllm_config, kv_cache_config, block_size, hash_block_size=None):
        self.kv_cache_manager = Manager(kv_cache_config.num_blocks)
        self.block_size = block_size
        self.num_spec_tokens = self.num_lookahead_tokens = 0
        self.connector = None
        self.pause_state = PauseState.UNPAUSED
        self.requests = {}
        self.finished_req_ids = set()
        self.has_shut_down = False

    def add_request(self, request):
        assert request.request_id not in self.requests, "duplicate request id"
        self.requests[request.request_id] = request

    def finish_requests(self, request_ids, finished_status):
        ids = [request_ids] if isinstance(request_ids, str) else request_ids
        ids = list(self.requests) if ids is None else ids
        gone = [self.requests.pop(i) for i in ids if i in self.requests]
        for request in gone:
            request.status = finished_status
            self.kv_cache_manager.held.pop(request.request_id, None)
            self.finished_req_ids.add(request.request_id)
        return gone

    @property
    def running(self):
        return [r for r in self.requests.values() if r.status == RequestStatus.RUNNING]

    def schedule(self, throttle_prefills=False):
        for request in self.requests.values():
            request.status = RequestStatus.RUNNING
            tokens = request.num_prompt_tokens + request.num_output_tokens + 1
            self.kv_cache_manager.grow(request.request_id, -(-tokens // self.block_size))
        output = SimpleNamespace(
            finished_req_ids=self.finished_req_ids, preempted_req_ids=None, ran=set(self.requests)
        )
        self.finished_req_ids = set()
        return output

    def update_from_output(self, scheduler_output, model_runner_output):
        for name in scheduler_output.ran & set(self.requests):
            request = self.requests[name]
            request.num_output_tokens += 1
            if request.num_output_tokens == request.max_tokens:
                self.finish_requests(name, RequestStatus.FINISHED_ABORTED)
        return {}

    def get_request_counts(self):
        running = sum(r.status == RequestStatus.RUNNING for r in self.requests.values())
        return running, len(self.requests) - running

    def get_num_unfinished_requests(self):
        return len(self.requests)

    def has_finished_requests(self):
        return bool(self.finished_req_ids)

    def make_stats(self):
        running, waiting = self.get_request_counts()
        return SimpleNamespace(num_running_reqs=running, num_waiting_reqs=waiting)

    def shutdown(self):
        self.has_shut_down = True
