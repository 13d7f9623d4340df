"""`--middleware kvbudget.vllm.middleware.Admission`: answers 429 with Retry-After before a request enters
an engine that has no room for it, as the figures in shared memory say, and names its tenant.

A courtesy, so that a load balancer tries elsewhere: the scheduler keeps to the limits without it.
Only requests for tokens are looked at. Whatever cannot be read lets the request pass.
"""

import json
import logging
import math
import time

from kvbudget.vllm import segment, settings, tenants

_logger = logging.getLogger("vllm.kvbudget")

# Ends of paths that bring work to the engine: (vllm/entrypoints/, 0.24 to 0.32), and where in the body
# arguments for a scheduler go, if anywhere.
_XARGS = ("vllm_xargs",)
_PATHS = {
    "/chat/completions": _XARGS,
    "/completions": _XARGS,
    "/responses": _XARGS,
    "/inference/v1/generate": ("sampling_params", "extra_args"),
    "/messages": None,
    "/embeddings": None,
    "/embed": None,
    "/pooling": None,
    "/classify": None,
    "/score": None,
    "/rerank": None,
    "/invocations": None,
    "/audio/transcriptions": None,
    "/audio/translations": None,
}
_LONGEST_RETRY_SECONDS = 60


def _place_of(path):
    """(whether the path brings work, where its arguments go)."""
    for end, place in _PATHS.items():
        if path.rstrip("/").endswith(end):
            return True, place
    return False, None


def why_full(figures, now):
    """What of a rank's limits is reached; empty when there is room to wait."""
    if segment.mode_of(figures["engine"]) == "observe":
        return ""
    pending, most = figures["pending"], figures["max_pending"]
    if pending >= most:
        return f"{pending} requests wait for KV blocks, the most that may (max_pending)"
    longest, since = figures["max_hold_seconds"], figures["oldest_since"]
    if pending and longest > 0 and now - since >= longest:
        return (
            f"requests wait {now - since:.0f} seconds for KV blocks, longer than they may "
            f"(max_hold_seconds is {longest:g})"
        )
    return ""


def retry_seconds(figures):
    """As long as requests were held on average."""
    count = figures["promoted_total"]
    mean = figures["hold_seconds_total"] / count if count else 0.0
    return min(max(1, math.ceil(mean)), _LONGEST_RETRY_SECONDS)


def _has_its_own(figures, name):
    """Blocks below the tenant's minimum are its own, however many others wait."""
    for tenant in figures["tenants"]:
        if tenant["name"] == name:
            return tenant["pending"] == 0 and tenant["reserved_blocks"] < tenant["min_blocks"]
    return False


def with_tenant(body, place, name):
    """The JSON body with the tenant at its place, whatever the client wrote there."""
    try:
        content = json.loads(body)
    except ValueError:
        return body  # the server will say what is wrong with it
    if not isinstance(content, dict):
        return body
    at = content
    for key in place:
        inner = at.get(key)
        at[key] = dict(inner) if isinstance(inner, dict) else {}
        at = at[key]
    at[tenants.ARGUMENT] = name
    return json.dumps(content).encode()


class Admission:
    def __init__(self, app, now=time.monotonic, read=segment.read):
        self._app = app
        self._now = now
        self._read = read
        self._wanted = None
        self._ranks = None
        self._has_complained = False

    async def __call__(self, scope, receive, send):
        brings_work, place = False, None
        if scope["type"] == "http" and scope["method"] == "POST":
            brings_work, place = _place_of(scope["path"])
        if not brings_work:
            return await self._app(scope, receive, send)
        self._configure(scope)
        name = self._tenant_of(scope)
        full = self._full(name)
        if full:
            return await _refuse(send, *full)
        if name is not None and place is not None:
            scope, receive = await _renamed(scope, receive, place, name)
        return await self._app(scope, receive, send)

    def _configure(self, scope):
        """The server keeps its configuration with the application, from before the first request."""
        if self._wanted is not None:
            return
        self._wanted = settings.Settings()
        config = getattr(getattr(scope.get("app"), "state", None), "vllm_config", None)
        if config is None:
            return
        try:
            self._wanted = settings.parse(config.additional_config)
        except ValueError as error:
            _logger.warning("%s; the middleware goes by the defaults", error)
        self._ranks = config.parallel_config.data_parallel_size

    def _tenant_of(self, scope):
        """None where no header is trusted; a request without it is the default tenant's."""
        header = self._wanted.tenant_header
        if header is None:
            return None
        for name, value in scope["headers"]:
            if name.lower() == header.lower().encode():
                return value.decode("latin-1")
        return tenants.DEFAULT

    def _full(self, tenant):
        """(why, seconds) when no rank has room."""
        ranks = self._figures()
        if not ranks:
            return None
        now, reasons = self._now(), []
        for figures in ranks.values():
            why = "" if _has_its_own(figures, tenant) else why_full(figures, now)
            if not why:
                return None
            reasons.append((why, retry_seconds(figures)))
        return min(reasons, key=lambda reason: reason[1])

    def _figures(self):
        if self._wanted.share is False:
            return {}
        try:
            ranks = self._read(self._wanted.share, self._ranks)
        except Exception as error:  # nothing here may cost a request
            ranks, why = {}, str(error)
        else:
            why = "there is no segment of this engine"
        if not ranks and not self._has_complained:
            self._has_complained = True
            _logger.warning("kvbudget: the ledger cannot be read (%s); all requests pass", why)
        return ranks


async def _renamed(scope, receive, place, name):
    """The request with the tenant in its body."""
    body, more = b"", True
    while more:
        message = await receive()
        if message["type"] != "http.request":  # the client has gone
            return scope, _first(message, receive)
        body += message.get("body", b"")
        more = message.get("more_body", False)
    body = with_tenant(body, place, name)
    headers = [(k, v) for k, v in scope["headers"] if k.lower() != b"content-length"]
    headers.append((b"content-length", str(len(body)).encode()))
    message = {"type": "http.request", "body": body, "more_body": False}
    return scope | {"headers": headers}, _first(message, receive)


def _first(message, receive):
    """Gives `message`, and then what `receive` gives."""
    given = [message]

    async def next_message():
        return given.pop() if given else await receive()

    return next_message


async def _refuse(send, why, seconds):
    error = {
        "message": f"kvbudget: {why}; try again in {seconds} s",
        "type": "rate_limit_exceeded",
        "param": None,
        "code": 429,
    }
    body = json.dumps({"error": error}).encode()
    headers = [
        (b"content-type", b"application/json"),
        (b"content-length", str(len(body)).encode()),
        (b"retry-after", str(seconds).encode()),
    ]
    await send({"type": "http.response.start", "status": 429, "headers": headers})
    await send({"type": "http.response.body", "body": body})
