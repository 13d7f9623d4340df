"""What the plugin touches of a vLLM release, read from its Python files without importing them:

    surface.py FOLDER    of an unpacked release; adds it to surfaces.json

Facts alone, names of methods, their parameters, attributes and members, so that releases which
cannot be installed here are tested as well.
"""

import ast
import json
import pathlib
import re
import sys

DATA = pathlib.Path(__file__).with_name("surfaces.json")

SCHEDULER = "vllm/v1/core/sched/scheduler.py"
ASYNC = "vllm/v1/core/sched/async_scheduler.py"
SPECS = "vllm/v1/kv_cache_interface.py"

# File, class: methods whose parameters matter.
METHODS = {
    (SCHEDULER, "Scheduler"): (
        "__init__",
        "add_request",
        "schedule",
        "update_from_output",
        "finish_requests",
        "get_request_counts",
        "get_num_unfinished_requests",
        "has_finished_requests",
        "make_stats",
        "shutdown",
    ),
    (ASYNC, "AsyncScheduler"): ("__init__",),
    ("vllm/v1/core/kv_cache_manager.py", "KVCacheManager"): ("get_block_ids",),
    ("vllm/v1/core/block_pool.py", "BlockPool"): ("get_num_free_blocks",),
    ("vllm/v1/engine/input_processor.py", "InputProcessor"): ("process_inputs",),
    ("vllm/v1/metrics/loggers.py", "AggregateStatLoggerBase"): ("__init__", "log", "record"),
    ("vllm/exceptions.py", "VLLMValidationError"): ("__init__",),
    (SPECS, "SlidingWindowSpec"): ("max_admission_blocks_per_request",),
    (SPECS, "ChunkedLocalAttentionSpec"): ("max_admission_blocks_per_request",),
    (SPECS, "MambaSpec"): ("max_memory_usage_bytes",),
    (SPECS, "CrossAttentionSpec"): ("max_memory_usage_bytes",),
}

# File, class: what is assigned in the class or to self.
ATTRIBUTES = {
    (SCHEDULER, "Scheduler"): (
        "block_size",
        "connector",
        "finished_req_ids",
        "kv_cache_manager",
        "num_lookahead_tokens",
        "num_spec_tokens",
        "pause_state",
        "requests",
        "running",
    ),
    ("vllm/v1/core/block_pool.py", "BlockPool"): ("null_block",),
    ("vllm/v1/core/kv_cache_manager.py", "KVCacheManager"): ("block_pool", "watermark_blocks"),
    ("vllm/v1/core/sched/interface.py", "PauseState"): ("UNPAUSED",),
    ("vllm/v1/core/sched/output.py", "SchedulerOutput"): ("finished_req_ids", "preempted_req_ids"),
    ("vllm/v1/engine/__init__.py", "FinishReason"): ("ERROR",),
    ("vllm/v1/engine/__init__.py", "EngineCoreOutput"): (
        "request_id",
        "new_token_ids",
        "finish_reason",
        "stop_reason",
    ),
    ("vllm/v1/engine/__init__.py", "EngineCoreOutputs"): ("outputs",),
    ("vllm/v1/request.py", "RequestStatus"): ("FINISHED_ERROR",),
    ("vllm/v1/request.py", "Request"): (
        "request_id",
        "client_index",
        "priority",
        "sampling_params",
        "lora_request",
        "num_prompt_tokens",
        "max_tokens",
        "resumable",
        "num_output_tokens",
    ),
    (SPECS, "KVCacheTensor"): ("size",),
    (SPECS, "KVCacheConfig"): ("num_blocks", "kv_cache_tensors", "kv_cache_groups"),
    (SPECS, "KVCacheGroupSpec"): ("kv_cache_spec",),
    (SPECS, "MambaSpec"): ("mamba_cache_mode",),
    ("vllm/config/vllm.py", "VllmConfig"): ("additional_config",),
    ("vllm/config/scheduler.py", "SchedulerConfig"): (
        "async_scheduling",
        "max_num_batched_tokens",
        "max_num_seqs",
        "policy",
        "scheduler_cls",
    ),
}


class Module:
    def __init__(self, path):
        tree = ast.parse(path.read_text(encoding="utf-8"))
        self.classes = {node.name: node for node in tree.body if isinstance(node, ast.ClassDef)}

    def methods(self, name):
        """Those of the class and of its bases in the same file."""
        node = self.classes.get(name)
        if node is None:
            return {}
        found = {}
        for base in reversed([b.id for b in node.bases if isinstance(b, ast.Name)]):
            found |= self.methods(base)
        kinds = (ast.FunctionDef, ast.AsyncFunctionDef)
        return found | {inner.name: inner for inner in node.body if isinstance(inner, kinds)}

    def attributes(self, name):
        """Fields, members and properties, and whatever a method assigns to self."""
        node = self.classes.get(name)
        if node is None:
            return set()
        found = set(self.methods(name))
        for inner in node.body:
            found.update(t.id for t in _targets(inner) if isinstance(t, ast.Name))
        for inner in ast.walk(node):
            for target in _targets(inner):
                if isinstance(target, ast.Attribute) and isinstance(target.value, ast.Name):
                    if target.value.id == "self":
                        found.add(target.attr)
        return found


def _targets(node):
    if isinstance(node, ast.AnnAssign):
        return [node.target]
    found = []
    for target in node.targets if isinstance(node, ast.Assign) else ():
        found += target.elts if isinstance(target, ast.Tuple) else [target]
    return found


def parameters(function):
    """Names; with its star that of whatever else is taken."""
    given = function.args
    names = [a.arg for a in (*given.posonlyargs, *given.args, *given.kwonlyargs)]
    names += [f"*{given.vararg.arg}"] if given.vararg else []
    names += [f"**{given.kwarg.arg}"] if given.kwarg else []
    return [name for name in names if name != "self"]


def read(folder):
    modules = {}

    def module(file):
        if file not in modules:
            modules[file] = Module(folder / file)
        return modules[file]

    methods, attributes = {}, {}
    for (file, name), wanted in METHODS.items():
        known = module(file).methods(name)
        methods[name] = {m: parameters(known[m]) for m in wanted if m in known}
    for (file, name), wanted in ATTRIBUTES.items():
        known = module(file).attributes(name)
        attributes[name] = [a for a in wanted if a in known]
    specs = sorted(c for c in module(SPECS).classes if re.search("Specs?$", c))
    return {"methods": methods, "attributes": attributes, "specs": specs}


def written(surfaces):
    """A line for each class, so that releases can be compared."""
    lines = []
    for version, surface in sorted(surfaces.items()):
        parts = []
        for part in ("methods", "attributes"):
            rows = [
                f"   {json.dumps(name)}: {json.dumps(surface[part][name])}"
                for name in surface[part]
            ]
            parts.append(f'  "{part}": {{\n' + ",\n".join(rows) + "\n  }")
        parts.append(f'  "specs": {json.dumps(surface["specs"])}')
        lines.append(f' "{version}": {{\n' + ",\n".join(parts) + "\n }")
    return "{\n" + ",\n".join(lines) + "\n}\n"


def main(folder):
    """The folder holds vllm/ and what the wheel says of itself."""
    found = next(folder.glob("vllm*.dist-info"), None)
    version = found.stem.split("-")[1] if found else folder.name.removeprefix("v")
    surfaces = json.loads(DATA.read_text()) if DATA.exists() else {}
    surfaces[version.split("+")[0]] = read(folder)
    DATA.write_text(written(surfaces))


if __name__ == "__main__":
    for argument in sys.argv[1:]:
        main(pathlib.Path(argument))
