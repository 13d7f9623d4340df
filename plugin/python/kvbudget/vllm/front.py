"""In the API server: a request that can never fit is told so with HTTP 400, before it is queued.

The one place where a method of the engine is replaced that is not made for it:
InputProcessor.process_inputs knows the tokens of a prompt and the limit of its answer, and what it
raises reaches the client as its own mistake. Where the method is not as expected nothing is
replaced, and the scheduler's rule, which answers with 500, holds alone. Reading needs one look at the
shared memory for each request.
"""

import functools
import inspect
import logging

from kvbudget import _core
from kvbudget.vllm import live, segment, tenants
from kvbudget.vllm.budget import explain

_logger = logging.getLogger("vllm.kvbudget")


def _prompt_tokens(request):
    for field in ("prompt_token_ids", "prompt_embeds"):
        if getattr(request, field, None) is not None:
            return len(getattr(request, field))
    return 0


def _most_blocks(figures, request):
    """(name of the reason, blocks) of the largest request of its tenant that may go."""
    known = {tenant["name"]: tenant["most_blocks"] for tenant in figures["tenants"]}
    return known.get(tenants.tenant_of(request, known), figures["budget_blocks"])


def _output_tokens(request, engine):
    """At least: optimistic mode reserves what it has learned, which is not known here."""
    if getattr(request, "resumable", False):
        return engine["max_model_len"]
    if request.sampling_params is None or segment.mode_of(engine) == "optimistic":
        return 1
    return request.sampling_params.max_tokens or 1


def refusal(request, figures):
    """Why this request never fits, by the figures of one rank; empty when it may."""
    engine = figures["engine"]
    if segment.mode_of(engine) == "observe":
        return ""
    prompt_tokens, output_tokens = _prompt_tokens(request), _output_tokens(request, engine)
    blocks = _core.Groups(engine["groups"]).blocks_needed(
        prompt_tokens,
        output_tokens,
        engine["lookahead_tokens"],
        engine["max_model_len"],
        engine["partial_block"],
    )
    if blocks <= _most_blocks(figures, request):
        return ""
    above = "above_budget" if blocks > figures["budget_blocks"] else "above_tenant_share"
    return explain(above, prompt_tokens, output_tokens, blocks, figures["budget_blocks"])


def _is_changing(budget_file, ranks):
    blocks = live.budget_in(budget_file) if budget_file else None
    return blocks is not None and any(f["budget_blocks"] != blocks for f in ranks.values())


def problem_with(processor):
    """Why the method cannot be replaced, or nothing."""
    method = getattr(processor, "process_inputs", None)
    if not callable(method):
        return "InputProcessor has no process_inputs"
    if inspect.iscoroutinefunction(method):
        return "InputProcessor.process_inputs is a coroutine"
    return None


def wrap(processor, error, read, budget_file=None):
    """`error` is raised with why no rank of `read`, {rank: figures}, can ever take the request. A new
    budget is taken by an engine that is asked for something, so then the scheduler judges."""
    stock = processor.process_inputs

    @functools.wraps(stock)
    def process_inputs(self, *args, **kwargs):
        request = stock(self, *args, **kwargs)
        ranks = read()
        refusals = [refusal(request, figures) for figures in ranks.values()]
        if refusals and all(refusals) and not _is_changing(budget_file, ranks):
            parameters = request.sampling_params
            value = parameters.max_tokens if parameters is not None else None
            raise error(refusals[0], parameter="max_tokens", value=value)
        return request

    process_inputs.kvbudget_stock = stock
    processor.process_inputs = process_inputs


def install(wanted, ranks):
    """Replaces the method in this process; a second time with the newest setting."""
    try:
        from vllm.exceptions import VLLMValidationError
        from vllm.v1.engine.input_processor import InputProcessor
    except ImportError as error:
        problem = str(error)
    else:
        problem = problem_with(InputProcessor)
    if problem:
        _logger.warning(
            "kvbudget: %s; requests that never fit are refused by the scheduler alone", problem
        )
        return
    method = InputProcessor.process_inputs
    InputProcessor.process_inputs = getattr(method, "kvbudget_stock", method)
    read = functools.partial(segment.read, wanted.share, ranks)
    wrap(InputProcessor, VLLMValidationError, read, wanted.budget_file)
