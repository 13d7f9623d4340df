"""The entry point of `vllm.stat_logger_plugins`: metrics of the ledger on the server's /metrics.

vLLM makes one of these in each API server process, with the engine's configuration; the ledger's
part there starts from it. Nothing is recorded per step: the figures are read from shared memory
when they are asked for.
"""

import logging
import os

from prometheus_client import REGISTRY
from vllm.v1.metrics.loggers import AggregateStatLoggerBase

from kvbudget.vllm import front, metrics, segment, settings

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


class StatLogger(AggregateStatLoggerBase):
    def __init__(self, vllm_config, engine_indexes=None):
        if not settings.is_guarded(vllm_config):
            return
        wanted = settings.parse(vllm_config.additional_config)
        ranks = vllm_config.parallel_config.data_parallel_size
        if wanted.share is not False:
            front.install(wanted, ranks)
            if _is_exporter(vllm_config):
                export(lambda: segment.read(wanted.share, ranks))

    def record(self, *args, **kwargs):
        pass

    def log_engine_initialized(self):
        pass
