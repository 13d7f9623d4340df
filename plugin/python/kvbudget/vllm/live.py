"""`budget_file`: another budget while the engine runs.

A file of the operator's, `{"budget_blocks": 1200, "tenants": [{"name": "a", "max_blocks": 600}]}`, both keys
optional; what it does not name is the plan's, and so is everything while it is absent. It is looked
at once a second by its modification time, which also changes when Kubernetes replaces a ConfigMap.
What cannot be taken is said once and changes nothing: requests that are admitted keep their blocks
in any case, and no more than the engine's usable blocks can be given out.
"""

import json
import logging
import os
import time

from kvbudget.vllm import settings

_logger = logging.getLogger("vllm.kvbudget")

_EVERY_SECONDS = 1.0


def parse(text, path):
    """(blocks or None, tenants). Raises ValueError for what is not understood."""
    try:
        given = json.loads(text)
    except ValueError as error:
        raise ValueError(f"kvbudget: {path} is no JSON: {error}") from error
    if not isinstance(given, dict):
        raise ValueError(f"kvbudget: {path} has no object")
    settings.only(given, ("budget_blocks", "tenants"), path)
    blocks = given.get("budget_blocks")
    if blocks is not None:
        settings.number(blocks, f"budget_blocks in {path}")
    rows = given.get("tenants") or []
    if not isinstance(rows, list) or not all(isinstance(row, dict) for row in rows):
        raise ValueError(f"kvbudget: tenants in {path} is no list of objects")
    return blocks, tuple(settings.tenant_of(row) for row in rows)


def budget_in(path):
    """The blocks that the file asks for; None where it is absent or says nothing."""
    try:
        with open(path, encoding="utf-8") as file:
            return parse(file.read(), path)[0]
    except (OSError, ValueError):
        return None


class BudgetFile:
    def __init__(self, path, now=time.monotonic):
        self._path = path
        self._now = now
        self._next = 0.0
        self._seen = None  # (time, bytes) of the file that was taken

    def changed(self):
        """(blocks or None, tenants) when there is something new, nothing otherwise."""
        if self._now() < self._next:
            return None
        self._next = self._now() + _EVERY_SECONDS
        try:
            about = os.stat(self._path)
            seen = about.st_mtime_ns, about.st_size
        except OSError:
            seen = None
        if seen == self._seen:
            return None
        self._seen = seen
        if seen is None:
            return None, ()
        try:
            with open(self._path, encoding="utf-8") as file:
                return parse(file.read(), self._path)
        except (OSError, ValueError) as error:
            _logger.error("%s; the budget stays as it is", error)
            return None
