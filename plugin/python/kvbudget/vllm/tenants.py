"""Who a request belongs to.

The first of these that the plan knows as a tenant: what the request says itself, its LoRA adapter,
its session, its cache salt, its priority as `priority-N`; else the default tenant. Only the first
can be set for an untrusted client, by the middleware or a gateway, and it decides alone where it is
given: a request cannot slip to another tenant behind it.
"""

ARGUMENT = "kvbudget_tenant"  # of sampling_params.extra_args; "vllm_xargs" over HTTP
DEFAULT = "default"


def tenant_of(request, known):
    """A name in `known`, or the default's."""
    parameters = getattr(request, "sampling_params", None)
    extra = getattr(parameters, "extra_args", None) or {}
    stated = extra.get(ARGUMENT)
    if stated is not None:
        return stated if isinstance(stated, str) and stated in known else DEFAULT
    lora = getattr(request, "lora_request", None)
    for name in (
        getattr(lora, "lora_name", None),
        getattr(request, "session_id", None),
        getattr(request, "cache_salt", None),
        f"priority-{getattr(request, 'priority', 0)}",
    ):
        if name in known:
            return name
    return DEFAULT
