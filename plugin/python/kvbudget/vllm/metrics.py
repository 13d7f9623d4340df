"""The ledger's figures as Prometheus metrics, read from the segments at each scrape.

`kvbudget plan --snippets` prints alert rules that use these names. Labels are bounded: `engine` is a
data-parallel rank, `tenant` one of the plan's, `reason` one of the ledger's. In observe mode nothing
is held or refused, so that what the ledger would have done has names of its own.
"""

import threading

from prometheus_client import Gauge
from prometheus_client.core import (
    CounterMetricFamily,
    GaugeMetricFamily,
    SummaryMetricFamily,
)

from kvbudget.vllm import segment

_PREFIX = "kvbudget_"

# Name, help, value of the figures.
_GAUGES = (
    ("capacity_blocks", "KV blocks that the engine can hand out.", lambda f: f["capacity_blocks"]),
    ("budget_blocks", "KV blocks in the budget in force.", lambda f: f["budget_blocks"]),
    ("reserved_blocks", "KV blocks reserved for admitted requests.", lambda f: f["reserved_blocks"]),
    ("held_blocks", "KV blocks that live requests have.", lambda f: f["engine"]["held_blocks"]),
    (
        "reconcile_drift_blocks",
        "KV blocks in use that no live request has, at the last look.",
        lambda f: f["engine"]["drift_blocks"],
    ),
    (
        "concurrency_lost",
        "Observe mode: requests running beyond what strict mode would admit, mean over steps.",
        lambda f: f["engine"]["concurrency_lost"],
    ),
)
_COUNTERS = (
    ("admitted", "Requests admitted.", lambda f: f["admitted_total"], False),
    ("held", "Requests held at first.", lambda f: f["held_total"], False),
    ("preemptions", "Preemptions by the engine.", lambda f: f["engine"]["preemptions_total"], None),
    (
        "would_preempt",
        "Observe mode: preemptions that strict mode would have avoided.",
        lambda f: f["engine"]["preemptions_total"],
        True,
    ),
    (
        "would_hold",
        "Observe mode: requests that strict mode would have held.",
        lambda f: f["engine"]["would_hold_total"],
        True,
    ),
    (
        "would_reject",
        "Observe mode: requests that strict mode would have refused.",
        lambda f: f["engine"]["would_reject_total"],
        True,
    ),
)


def observes(figures):
    return segment.MODES.get(figures["engine"]["mode"]) == "observe"


def _simple(ranks):
    for name, text, value in _GAUGES:
        family = GaugeMetricFamily(_PREFIX + name, text, labels=["engine"])
        for rank, figures in ranks.items():
            family.add_metric([str(rank)], value(figures))
        yield family
    for name, text, value, in_observe_mode in _COUNTERS:
        family = CounterMetricFamily(_PREFIX + name, text, labels=["engine"])
        for rank, figures in ranks.items():
            counts = in_observe_mode is None or in_observe_mode == observes(figures)
            family.add_metric([str(rank)], value(figures) if counts else 0)
        yield family


def _labelled(ranks):
    info = GaugeMetricFamily(_PREFIX + "info", "The mode in force.", labels=["engine", "mode"])
    reserved = GaugeMetricFamily(
        _PREFIX + "tenant_reserved_blocks",
        "KV blocks reserved for a tenant's requests.",
        labels=["engine", "tenant"],
    )
    pending = GaugeMetricFamily(
        _PREFIX + "pending_requests", "Requests held now.", labels=["engine", "tenant"]
    )
    rejected = CounterMetricFamily(
        _PREFIX + "rejected", "Requests refused.", labels=["engine", "reason"]
    )
    for rank, figures in ranks.items():
        is_shadow = observes(figures)
        info.add_metric([str(rank), segment.MODES.get(figures["engine"]["mode"], "unknown")], 1)
        for tenant in figures["tenants"]:
            labels = [str(rank), tenant["name"]]
            reserved.add_metric(labels, tenant["reserved_blocks"])
            pending.add_metric(labels, 0 if is_shadow else tenant["pending"])
        for reason, count in figures["rejected_for"].items():
            rejected.add_metric([str(rank), reason], 0 if is_shadow else count)
    return info, reserved, pending, rejected


def _times(ranks):
    hold = SummaryMetricFamily(
        _PREFIX + "hold_seconds", "How long admitted requests were held.", labels=["engine"]
    )
    calls = SummaryMetricFamily(
        _PREFIX + "ledger_call_seconds", "What a step spent in the ledger.", labels=["engine"]
    )
    for rank, figures in ranks.items():
        engine = figures["engine"]
        held, seconds = figures["promoted_total"], figures["hold_seconds_total"]
        if observes(figures):
            held = seconds = 0
        hold.add_metric([str(rank)], held, seconds)
        calls.add_metric([str(rank)], engine["steps_total"], engine["step_seconds_total"])
    return hold, calls


class Collector:
    """For a registry of prometheus_client; `read` gives {rank: figures}."""

    def __init__(self, read):
        self._read = read

    def describe(self):
        return self.families({})

    def collect(self):
        return self.families(self._read())

    @staticmethod
    def families(ranks):
        return [*_simple(ranks), *_labelled(ranks), *_times(ranks)]


class Mirror:
    """The same in plain gauges, which are all that prometheus_client adds up over the processes of
    several API servers (PROMETHEUS_MULTIPROC_DIR); collectors are left out there."""

    def __init__(self, read, registry, every_seconds=1.0):
        self._collector = Collector(read)
        self._registry = registry
        self._every_seconds = every_seconds
        self._gauges = {}

    def start(self):
        threading.Thread(target=self._run, name="kvbudget-metrics", daemon=True).start()

    def _run(self):
        pause = threading.Event()
        while True:
            self.refresh()
            pause.wait(self._every_seconds)

    def refresh(self):
        for family in self._collector.collect():
            for sample in family.samples:
                gauge = self._gauges.get(sample.name)
                if gauge is None:
                    gauge = self._gauges[sample.name] = Gauge(
                        sample.name,
                        family.documentation,
                        list(sample.labels),
                        multiprocess_mode="mostrecent",
                        registry=self._registry,
                    )
                gauge.labels(**sample.labels).set(sample.value)
