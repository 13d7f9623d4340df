#include <array>

#include "lint/engine/envs.h"
#include "lint/read/text.h"
#include "lint/rule.h"
#include "rules/removal.h"

namespace kvbudget {
namespace {

struct DebugVariable {
  std::string_view name;
  std::string_view value;  ///< that turns it on; empty: any
  std::string_view effect;
};

constexpr std::array kVariables = {
    DebugVariable{"VLLM_TRACE_FUNCTION", "1",
                  "logs every function call and makes the start slower by orders of magnitude"},
    DebugVariable{"CUDA_LAUNCH_BLOCKING", "1", "makes the host wait for every kernel"},
    DebugVariable{"VLLM_LOGGING_LEVEL", "DEBUG", "logs every step of the engine"},
    DebugVariable{"NCCL_DEBUG", "TRACE", "logs every call of NCCL"},
    DebugVariable{"VLLM_TORCH_PROFILER_DIR", "", "lets any client start the profiler"},
    DebugVariable{"VLLM_TORCH_CUDA_PROFILE", "1", "lets any client start the profiler"},
    DebugVariable{"TORCH_SHOW_CPP_STACKTRACES", "1", "is for stack traces of PyTorch"},
    DebugVariable{"TORCH_CPP_LOG_LEVEL", "INFO", "logs what PyTorch does inside"},
};

bool is_on(const EnvVar& set, const DebugVariable& variable) {
  if (set.name.view() != variable.name || !set.known || set.value.empty()) return false;
  return variable.value.empty() || upper(set.value.view()) == variable.value;
}

// VLLM_ variables of another release have no effect at all (KVB402).
bool is_read(const Deployment& d, const DebugVariable& variable) {
  return find_env(variable.name) == nullptr || env_exists(variable.name, d.version);
}

bool is_watched_at_start(const Deployment& d) {
  return d.start.around != nullptr && (d.start.around->startup || d.start.around->liveness);
}

void check(const Deployment& d, Reporter& reporter) {
  if (!d.start.serves_traffic) return;
  for (const EnvVar& set : d.start.env) {
    for (const DebugVariable& variable : kVariables) {
      if (!set.name.location() || !is_on(set, variable) || !is_read(d, variable)) continue;
      const bool fatal = variable.name == "VLLM_TRACE_FUNCTION" && is_watched_at_start(d);
      Diagnostic& finding =
          reporter.report(set.name.location(),
                          set.name.str() + " is for debugging: it " + std::string(variable.effect),
                          fatal ? Severity::kError : Severity::kWarning);
      if (fatal) finding.notes.push_back({"its probe ends the container before it is ready", {}});
      propose_removal(remove_variable(set), /*safe=*/true, "delete " + set.name.str(), finding);
    }
  }
}

}  // namespace

extern const Rule debug_variable_in_production_rule;
const Rule debug_variable_in_production_rule = {
    .id = "KVB422",
    .name = "debug-variable-in-production",
    .severity = Severity::kWarning,
    .summary = "a variable for debugging in a deployment that serves traffic",
    .doc = R"md(
## What it does
Finds variables that trace or block in engines that serve: VLLM_TRACE_FUNCTION, CUDA_LAUNCH_BLOCKING, log levels of
debugging, profilers.

## Why it matters
They are left over from a search for a fault and make the engine many times slower, or open its profiler to whoever
reaches the port. VLLM_TRACE_FUNCTION together with a probe keeps the container from ever being ready.

## How it is computed
From a list of variables and the values that turn them on, together with signs of production in the same file (a
probe, a port, replicas).

## Fix
Delete it.

## Since which engine version
All; variables that the release does not read are left to KVB402.

## References
vLLM documentation, "Troubleshooting"; CUDA and NCCL documentation.
)md",
    .bad = R"yaml(
apiVersion: v1
kind: Pod
metadata: {name: chat}
spec:
  nodeSelector: {cloud.google.com/gke-accelerator: nvidia-l4}
  containers:
    - name: vllm
      image: vllm/vllm-openai:v0.19.0
      args:
        - --model=Qwen/Qwen2.5-7B-Instruct
        - --max-model-len=8192
      env:
        - {name: VLLM_TRACE_FUNCTION, value: "1"}  # expect: KVB422
      resources: {limits: {nvidia.com/gpu: 1}}
      ports: [{containerPort: 8000}]
)yaml",
    .good = R"yaml(
apiVersion: v1
kind: Pod
metadata: {name: chat}
spec:
  nodeSelector: {cloud.google.com/gke-accelerator: nvidia-l4}
  containers:
    - name: vllm
      image: vllm/vllm-openai:v0.19.0
      args:
        - --model=Qwen/Qwen2.5-7B-Instruct
        - --max-model-len=8192
      resources: {limits: {nvidia.com/gpu: 1}}
      ports: [{containerPort: 8000}]
)yaml",
    .check_deployment = &check,
};

}  // namespace kvbudget
