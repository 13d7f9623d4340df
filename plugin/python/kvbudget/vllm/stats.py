"""The entry point of `vllm.stat_logger_plugins`: metrics of the ledger on the server's /metrics.

vLLM makes one of these in each API server process, with the engine's configuration; the ledger's
part there starts from it. Nothing is recorded per step: the figures are read from shared memory
when they are asked for.
"""

import atexit
import functools
import logging
import os

from prometheus_client import REGISTRY
from vllm.v1.metrics.loggers import AggregateStatLoggerBase

from kvbudget.vllm import front, metrics, report, segment, settings

_logger = logging.getLogger("vllm.kvbudget")


def _is_exporter(vllm_config):
    """Of several API servers the first exports; -1 is that of a process without a rank."""
    return getattr(vllm_config.parallel_config, "_api_process_rank", 0) <= 0


def export(read, registry=REGISTRY, environment=os.environ):
    """Registers the metrics unless they are there already, from an engine before in this process."""
    try:
        if "PROMETHEUS_MULTIPROC_DIR" in environment:
            metrics.Mirror(read, registry).start()
        else:
            registry.register(metrics.Collector(read))
    except ValueError as error:  # a duplicate
        _logger.debug("kvbudget: %s", error)


def _leave(reporter, share, ranks):
    """The engines are gone with this process, killed before they could tidy up."""
    reporter.say()
    segment.remove(share, ranks)


class StatLogger(AggregateStatLoggerBase):
    def __init__(self, vllm_config, engine_indexes=None):
        self._reporter = None
        if not settings.is_guarded(vllm_config):
            return
        wanted = settings.parse(vllm_config.additional_config)
        ranks = vllm_config.parallel_config.data_parallel_size
        if wanted.share is False:
            return
        front.install(wanted, ranks)
        if _is_exporter(vllm_config):
            read = functools.partial(segment.read, wanted.share, ranks)
            export(read)
            self._reporter = report.Reporter(read)
            atexit.register(_leave, self._reporter, wanted.share, ranks)

    def log(self):
        if self._reporter is not None:
            self._reporter.maybe()

    def record(self, *args, **kwargs):
        pass

    def log_engine_initialized(self):
        pass
