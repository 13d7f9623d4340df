"""`--additional-config '{"kvbudget": {...}}'`: what the operator asks of the plugin."""

import dataclasses
import json

MODES = ("observe", "optimistic", "strict")


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
    share: str | None = None  # name of the shared-memory segment for the figures
    audit: bool = False  # count the blocks of every request at every step


def _only(given, known, where):
    unknown = sorted(set(given) - set(known))
    if unknown:
        raise ValueError(f"kvbudget: {where} has no key {unknown[0]!r}, only {', '.join(known)}")


def _number(value, where, kind=int):
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


def _tenant(row):
    _only(row, ("name", "weight", "min_blocks", "max_blocks"), "a tenant of the plan")
    largest = row.get("max_blocks")
    return Tenant(
        name=str(row["name"]),
        weight=_number(row.get("weight", 1.0), "weight", float),
        min_blocks=_number(row.get("min_blocks") or 0, "min_blocks"),
        max_blocks=None if largest is None else _number(largest, "max_blocks"),
    )


def parse(additional_config):
    """Raises ValueError for whatever is not understood: a mistyped key must not weaken a budget."""
    given = additional_config.get("kvbudget", {}) if isinstance(additional_config, dict) else {}
    if not isinstance(given, dict):
        raise ValueError(f"kvbudget: the setting is {given!r}, which is no object")
    _only(given, ("plan", "mode", "share", "audit"), "the setting")
    plan = load_plan(given["plan"]) if given.get("plan") is not None else None
    admission = (plan or {}).get("admission") or {}
    _only(admission, ("mode", "max_pending", "max_hold_seconds", "tenants"), "the plan's admission")
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
        max_pending=_number(admission.get("max_pending") or 0, "max_pending"),
        max_hold_seconds=_number(admission.get("max_hold_seconds") or 0, "max_hold_seconds", float),
        tenants=tuple(_tenant(row) for row in admission.get("tenants") or ()),
        share=given.get("share"),
        audit=bool(given.get("audit", False)),
    )
