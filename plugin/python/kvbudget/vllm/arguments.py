"""A command line of `vllm serve` as far as the budget goes: is this the engine that the plan is for?

Read by its words, without the engine's parser, which wants an accelerator and the model. It takes
underscores for dashes, `--key=value`, and keys of JSON with dots (vllm/utils/argparse_utils.py, 0.32);
a --config file is not followed.
"""

import json

from kvbudget.vllm import settings

SCHEDULER = "kvbudget.vllm.make_scheduler"
MIDDLEWARE = "kvbudget.vllm.middleware.Admission"
_PINS = ("num-gpu-blocks-override", "kv-cache-memory-bytes")
_UNITS = {"k": 10**3, "m": 10**6, "g": 10**9, "t": 10**12}


def read(words):
    """{option: its last value}; an option without one has an empty value."""
    options, words = {}, list(words)
    while words:
        word = words.pop(0)
        if not word.startswith("--"):
            continue
        name, has_value, value = word[2:].partition("=")
        first, dot, rest = name.partition(".")
        name = first.replace("_", "-") + dot + rest
        if not has_value and words and not words[0].startswith("--"):
            value = words.pop(0)
        options[name] = value
    return options


def additional_config(options):
    """Raises ValueError for what is no JSON object."""
    text = options.get("additional-config", "")
    try:
        config = json.loads(text) if text else {}
    except ValueError as error:
        raise ValueError(f"--additional-config is no JSON: {error}") from error
    if not isinstance(config, dict):
        raise ValueError("--additional-config is no object")
    for name, value in options.items():
        head, _, path = name.partition(".")
        if head == "additional-config" and path:
            _place(config, path.split("."), value)
    return config


def _place(config, keys, value):
    for key in keys[:-1]:
        inner = config.get(key)
        config[key] = inner if isinstance(inner, dict) else {}
        config = config[key]
    try:
        config[keys[-1]] = json.loads(value)
    except ValueError:
        config[keys[-1]] = value


def _number(text):
    """Of bytes with a unit as the engine reads them: 1k is 1,000, 1K is 1,024."""
    if text and text[-1].lower() in _UNITS:
        unit = _UNITS[text[-1].lower()]
        if text[-1].isupper():
            unit = 1024 ** (list(_UNITS).index(text[-1].lower()) + 1)
        try:
            return int(float(text[:-1]) * unit)
        except ValueError:
            return None
    return int(text) if text.isdecimal() else None


def _pin_problems(options, plan):
    wanted = read(plan.get("flags") or [])
    for name in _PINS:
        if name not in wanted:
            continue
        if name not in options:
            return [f"--{name} {wanted[name]} is missing, which pins the plan's blocks"]
        if _number(options[name]) != _number(wanted[name]):
            return [f"--{name} is {options[name]}, the plan has {wanted[name]}"]
    return []


def _scheduler_problems(options):
    given = options.get("scheduler-cls")
    if given is None:
        return [f"--scheduler-cls {SCHEDULER} is missing: nothing keeps to the plan"]
    return [] if given == SCHEDULER else [f"--scheduler-cls is {given}, not {SCHEDULER}"]


def problems(words, plan=None):
    """A sentence for each thing that is wrong. A plan that is given stands for the one in the setting,
    whose path may be a container's."""
    options = read(words)
    found = _scheduler_problems(options)
    try:
        setting = additional_config(options)
        if plan is None:
            plan = settings.parse(setting).plan
        elif isinstance(setting.get("kvbudget"), dict):
            settings.only(setting["kvbudget"], settings.KEYS, "the setting")
        has_plan = isinstance(setting.get("kvbudget"), dict) and setting["kvbudget"].get("plan")
        if plan is not None and not has_plan:
            found.append("--additional-config has no kvbudget.plan: the engine will not know the plan")
    except ValueError as error:
        return found + [str(error)]
    return found + (_pin_problems(options, plan) if plan is not None else [])


def notes(words):
    """What is not wrong, and worth a word."""
    options = read(words)
    found = []
    if "config" in options:
        found.append(f"--config {options['config']} is not read; give its options here")
    if MIDDLEWARE not in options.get("middleware", ""):
        found.append(f"without --middleware {MIDDLEWARE} a full queue is told by the engine alone")
    return found
