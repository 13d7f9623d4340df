"""vLLM's side: `--scheduler-cls kvbudget.vllm.make_scheduler` and the general plugin.

Nothing of the engine is imported before it is needed, since the plugin is loaded in every process
of an engine, also in those that never schedule.
"""

import logging

_logger = logging.getLogger("vllm.kvbudget")


def make_scheduler(*args, **kwargs):
    """What `--scheduler-cls` names. The engine calls it with keywords as it would its own class
    (vllm/v1/engine/core.py, 0.24 to 0.32); which class is right is known only then."""
    from kvbudget.vllm.scheduler import scheduler_class

    return scheduler_class(kwargs["vllm_config"])(*args, **kwargs)


def register():
    """Entry point of `vllm.general_plugins`. Called once or several times in each process. Where the
    package cannot be imported the engine only logs it, so no budget is enforced here."""
    from kvbudget.vllm import attention

    if attention.is_wanted() and attention.register():
        _logger.info("kvbudget: attention on FP8 pages is registered")
