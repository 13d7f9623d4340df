#include "lint/engine/cudagraph.h"
#include "lint/engine/json_text.h"
#include "lint/engine/resolve.h"
#include "lint/memory/estimate.h"
#include "lint/memory/format.h"
#include "lint/rule.h"

namespace kvbudget {
namespace {

// What the file says that leaves decoding without graphs or compilation.
struct Cause {
  std::string what;
  Location where;
  std::string effect;
};

std::optional<Cause> cause_of(const Deployment& d) {
  const std::string both = "CUDA graphs and compilation off";
  if (d.settings.is_true("enforce-eager")) {
    return Cause{"enforce-eager", d.where_of("enforce-eager"), both};
  }
  if (d.settings.integer("optimization-level") == 0) {
    return Cause{"optimization level 0", d.where_of("optimization-level"), both};
  }
  const std::string config = d.settings.text("compilation-config");
  const auto mode = json_member(config, "cudagraph_mode");
  if (mode == "NONE" || mode == "0") {
    return Cause{"cudagraph_mode NONE", d.where_of("compilation-config"), "CUDA graphs off"};
  }
  const EnvVar* variable = d.env("TORCH_COMPILE_DISABLE");
  if (variable != nullptr && variable->known && variable->value.view() == "1") {
    return Cause{"TORCH_COMPILE_DISABLE", variable->name.location(), "compilation off"};
  }
  return std::nullopt;
}

// What the graphs would take if they were not off; empty where that is not known.
std::string saved_text(const Deployment& d) {
  if (!d.estimate || d.engine.cudagraph_sizes != 0) return "";
  Settings on = d.settings;
  on.unset("enforce-eager");
  on.unset("optimization-level");
  const ResolveResult numbers =
      resolve({on, d.version, &*d.gpu, d.shape.get(), d.context.default_tokens});
  memory::EngineSettings engine = d.engine;
  engine.enforce_eager = numbers.engine.enforce_eager;
  engine.cudagraph_sizes = numbers.engine.cudagraph_sizes;
  engine.max_cudagraph_size = numbers.engine.max_cudagraph_size;
  const memory::Estimate estimate = memory::estimate(*d.shape, engine, d.card());
  const memory::Term* graphs = estimate.term("cuda_graphs");
  if (graphs == nullptr || graphs->bytes.best == 0) return "";
  return "; here the graphs would take about " + memory::gib_text(graphs->bytes.best);
}

void check(const Deployment& d, Reporter& reporter) {
  if (!d.start.serves_traffic || (d.shape && !d.shape->generates)) return;
  const std::optional<Cause> cause = cause_of(d);
  if (!cause) return;
  Diagnostic& finding = reporter.report(cause->where, cause->what + " turns " + cause->effect +
                                                          " in a deployment that serves traffic");
  finding.subject = "enforce-eager";
  const std::string flag(largest_capture_flag(d.version));
  const std::string instead =
      flag.empty() ? "" : "; to save memory keep the graphs and capture fewer sizes with --" + flag;
  finding.notes.push_back(
      {"reports range from 3 % to 10 times slower decoding" + instead + saved_text(d), {}});
}

}  // namespace

extern const Rule enforce_eager_in_production_rule;
const Rule enforce_eager_in_production_rule = {
    .id = "KVB410",
    .name = "enforce-eager-in-production",
    .severity = Severity::kWarning,
    .summary = "eager mode in a deployment that serves traffic",
    .doc = R"md(
## What it does
Finds `enforce-eager`, `-O0`, `cudagraph_mode` NONE and `TORCH_COMPILE_DISABLE=1` on engines that serve: probes, ports,
replicas or a published port stand beside them.

## Why it matters
Eager mode turns CUDA graphs and compilation off. Reports range from 3 % to ten times slower
decoding; the gain is the memory of the graphs, usually 0.5 to 2 GiB. It is often left over from debugging.

## How it is computed
The flag, or the key of a vLLM config file, together with signs of production in the same file.

## Fix
Delete it. Where memory is short, `max-cudagraph-capture-size` keeps the graphs that matter.

## Since which engine version
All.

## References
vLLM documentation, "Conserving Memory"; vLLM issues 4449, 56892.
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
        - --enforce-eager  # expect: KVB410
      resources: {limits: {nvidia.com/gpu: 1}}
      readinessProbe: {httpGet: {path: /health, port: 8000}}
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
        - --max-cudagraph-capture-size=64
      resources: {limits: {nvidia.com/gpu: 1}}
      readinessProbe: {httpGet: {path: /health, port: 8000}}
)yaml",
    .check_deployment = &check,
};

}  // namespace kvbudget
