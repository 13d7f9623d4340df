"""`--additional-config '{"kvbudget": {...}}'`: what the operator asks of the plugin."""

import dataclasses
import json

MODES = ("observe", "optimistic", "strict")
_NAME_BYTES = 48  # of kvb_tenant_state, with the 0 at the end
KEYS = ("plan", "mode", "share", "audit", "tenant_header", "budget_file")


@dataclasses.dataclass(frozen=True)
class Tenant:
    name: str
    weight: float = 1.0
    min_blocks: int = 0
    max_blocks: int | None = None


@dataclasses.dataclass(frozen=True)
class Settings:
    mode: str = "observe"
    plan: dict | None = None
    max_pending: int = 0  # 0: no limit
    max_hold_seconds: float = 0.0  # 0: for ever
    tenants: tuple[Tenant, ...] = ()
    share: str | bool | None = None  # base of the segments' names; False: no figures are shared
    tenant_header: str | None = None  # that the middleware takes a request's tenant from
    budget_file: str | None = None  # whose budget is taken while the engine runs
    audit: bool = False  # count the blocks of every request at every step


def only(given, known, where):
    unknown = sorted(set(given) - set(known))
    if unknown:
        raise ValueError(f"kvbudget: {where} has no key {unknown[0]!r}, only {', '.join(known)}")


def number(value, where, kind=int):
    if isinstance(value, bool) or not isinstance(value, (int, kind)) or value < 0:
        raise ValueError(f"kvbudget: {where} is {value!r}, which is no number from 0 up")
    return value


def load_plan(path):
    try:
        with open(path, encoding="utf-8") as file:
            plan = json.load(file)
    except (OSError, ValueError) as error:
        raise ValueError(f"kvbudget: the plan {path} cannot be read: {error}") from error
    if not isinstance(plan, dict) or plan.get("schema") != 1:
        raise ValueError(f"kvbudget: {path} is no plan of schema 1; write it with `kvbudget plan`")
    return plan


def tenant_of(row):
    only(row, ("name", "weight", "min_blocks", "max_blocks"), "a tenant of the plan")
    largest = row.get("max_blocks")
    name = row.get("name")
    if not isinstance(name, str) or not 0 < len(name.encode()) < _NAME_BYTES:
        raise ValueError(f"kvbudget: a tenant's name is {name!r}; it can have 1 to 47 bytes")
    return Tenant(
        name=name,
        weight=number(row.get("weight", 1.0), "weight", float),
        min_blocks=number(row.get("min_blocks") or 0, "min_blocks"),
        max_blocks=None if largest is None else number(largest, "max_blocks"),
    )


def _text(value, where):
    if value is not None and (not isinstance(value, str) or not value):
        raise ValueError(f"kvbudget: {where} is {value!r}, which is no text")
    return value


def _share(value):
    if value is None or value is False:
        return value
    if not isinstance(value, str) or not value.startswith("/") or "/" in value[1:]:
        raise ValueError(f"kvbudget: share is {value!r}; it can be false or a name as /kvbudget")
    return value


def is_guarded(vllm_config):
    """Whether the engine's scheduler is ours."""
    scheduler = vllm_config.scheduler_config.scheduler_cls
    path = scheduler if isinstance(scheduler, str) else getattr(scheduler, "__module__", "")
    return path.startswith("kvbudget.")


def parse(additional_config):
    """Raises ValueError for whatever is not understood: a mistyped key must not weaken a budget."""
    given = additional_config.get("kvbudget", {}) if isinstance(additional_config, dict) else {}
    if not isinstance(given, dict):
        raise ValueError(f"kvbudget: the setting is {given!r}, which is no object")
    only(given, KEYS, "the setting")
    plan = load_plan(given["plan"]) if given.get("plan") is not None else None
    admission = (plan or {}).get("admission") or {}
    only(admission, ("mode", "max_pending", "max_hold_seconds", "tenants"), "the plan's admission")
    mode = given.get("mode") or admission.get("mode") or "observe"
    if mode not in MODES:
        raise ValueError(f"kvbudget: mode is {mode!r}, it can be {', '.join(MODES)}")
    if plan is None and mode != "observe":
        raise ValueError(
            f"kvbudget: mode {mode} needs a plan; name the file of `kvbudget plan` in "
            '--additional-config \'{"kvbudget": {"plan": "FILE"}}\''
        )
    return Settings(
        mode=mode,
        plan=plan,
        max_pending=number(admission.get("max_pending") or 0, "max_pending"),
        max_hold_seconds=number(admission.get("max_hold_seconds") or 0, "max_hold_seconds", float),
        tenants=tuple(tenant_of(row) for row in admission.get("tenants") or ()),
        share=_share(given.get("share")),
        tenant_header=_text(given.get("tenant_header"), "tenant_header"),
        budget_file=_text(given.get("budget_file"), "budget_file"),
        audit=bool(given.get("audit", False)),
    )
