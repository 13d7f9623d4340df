#include <cmath>

#include "lint/memory/bytes.h"
#include "lint/memory/format.h"
#include "lint/rule.h"
#include "rules/container.h"

namespace kvbudget {
namespace {

struct StartTime {
  double least = 0.0;  ///< seconds
  double likely = 0.0;
};

StartTime start_time(const Deployment& d, double gib) {
  constexpr double kImports = 20.0;
  constexpr double kSlowImports = 30.0;
  constexpr double kCompileAndGraphs = 80.0;
  constexpr double kLocalDisk = 4.0;      // GiB/s
  constexpr double kNetworkVolume = 1.0;  // GiB/s
  const double declared = d.workload.load_gib_per_second.value_or(0.0);
  const double fast = declared > 0.0 ? declared : kLocalDisk;
  const double slow = declared > 0.0 ? declared : kNetworkVolume;
  const bool compiles = !d.settings.is_true("enforce-eager") && !d.engine.v0_engine;
  return {kImports + gib / fast, kSlowImports + gib / slow + (compiles ? kCompileAndGraphs : 0.0)};
}

std::string seconds(double value) { return memory::decimal_text(value, 0) + " s"; }

void check_time(const Deployment& d, const Probe& probe, const char* which, Reporter& reporter) {
  constexpr double kTooShortForAny = 60.0;
  const auto allowed = static_cast<double>(probe.allowed_seconds());
  const uint64_t bytes = checkpoint_bytes(d);
  const StartTime need = start_time(d, memory::gib(bytes));
  const bool too_short = allowed < kTooShortForAny || allowed < need.least / 2.0;
  if (!too_short && (bytes == 0 || allowed >= need.likely)) return;
  Diagnostic& finding = reporter.report(
      probe.where,
      std::string("the ") + which + " lets Kubernetes kill the container after " +
          seconds(allowed) + "; " +
          (bytes == 0
               ? std::string("an engine needs more than that to start")
               : memory::gib_text(bytes) + " of weights need roughly " + seconds(need.likely)),
      too_short ? Severity::kError : Severity::kWarning);
  constexpr double kPeriod = 10.0;
  const double room = std::ceil(2.0 * need.likely / kPeriod);
  finding.notes.push_back(
      {"add startupProbe: {httpGet: {path: /health, port: 8000}, periodSeconds: 10, "
       "failureThreshold: " +
           memory::decimal_text(room, 0) + "}",
       {}});
}

// One answer late by a second is no reason to throw the weights away.
void check_patience(const Probe& liveness, Reporter& reporter) {
  const bool one_failure = liveness.failures <= 1;
  const bool one_second = liveness.timeout_written && liveness.timeout <= 1;
  if (!one_failure && !one_second) return;
  reporter.report(liveness.where,
                  one_failure ? "failureThreshold 1: one slow answer under load kills the engine"
                              : "timeoutSeconds 1: slow answers under load kill the engine",
                  Severity::kWarning);
}

void check(const Deployment& d, Reporter& reporter) {
  const Surroundings* around = whole_container(d);
  if (around == nullptr || !around->kubernetes || !is_service(d)) return;
  if (around->startup) {
    check_time(d, *around->startup, "startup probe", reporter);
  } else if (around->liveness) {
    check_time(d, *around->liveness, "liveness probe", reporter);
  }
  if (around->liveness) check_patience(*around->liveness, reporter);
  // Until a start probe has passed, a pod is not ready either.
  if (!around->own_services.empty() && !around->readiness && !around->startup) {
    reporter.report(d.start.where,
                    "Service " + around->own_services.front() +
                        " sends requests to engines that still load: there is no readiness probe",
                    Severity::kWarning);
  }
}

}  // namespace

extern const Rule start_probe_too_short_rule;
const Rule start_probe_too_short_rule = {
    .id = "KVB501",
    .name = "start-probe-too-short",
    .severity = Severity::kError,
    .summary = "the kubelet kills the container before the engine can have started",
    .doc = R"md(
## What it does
Compares the time that the start probe, or the liveness probe where there is none, allows with the time that a
start takes. Also finds a liveness probe that one slow answer fails, and a Service that sends requests to
engines without a readiness probe.

## Why it matters
A container that is killed while it loads starts again from nothing and never serves. vLLM's own example chart
(15 s and three times 10 s) does it to models of a few GiB.

## How it is computed
Allowed: initialDelaySeconds + periodSeconds x failureThreshold. Needed at least: 20 s for imports and CUDA, and
the weights at 4 GiB/s (local NVMe; torch.compile from its cache). Needed roughly: 30 s, the weights at 1 GiB/s
(a fast network volume), and, unless eager, 80 s for compilation and CUDA graphs. `load-gib-per-second` in the
workload of `.kvbudget.yaml` or of the annotation `kvbudget.io/workload` replaces both rates. Downloads and image
pulls are not counted. An error when less than 60 s, or less than half of the least, are allowed; a warning when
less than what is roughly needed. Only for workloads whose pod is in the file: operators add probes.

## Fix
A startupProbe with room for twice the time, and a liveness probe that begins behind it.

## Since which engine version
All.

## References
Kubernetes documentation, "Configure Liveness, Readiness and Startup Probes"; vLLM documentation, "Using
Kubernetes"; kserve issues 4840, 5062.
)md",
    .bad = R"yaml(
apiVersion: apps/v1
kind: Deployment
metadata: {name: chat}
spec:
  replicas: 1
  selector: {matchLabels: {app: chat}}
  template:
    metadata: {labels: {app: chat}}
    spec:
      nodeSelector: {cloud.google.com/gke-accelerator: nvidia-l4}
      containers:
        - name: vllm
          image: vllm/vllm-openai:v0.19.0
          args: ["--model=Qwen/Qwen2.5-7B-Instruct", "--max-model-len=8192"]
          resources: {limits: {nvidia.com/gpu: 1}}
          livenessProbe:
            httpGet: {path: /health, port: 8000}  # expect: KVB501
            initialDelaySeconds: 20
            periodSeconds: 10
          volumeMounts: [{name: hub, mountPath: /root/.cache/huggingface}]
      volumes: [{name: hub, persistentVolumeClaim: {claimName: hub}}]
)yaml",
    .good = R"yaml(
apiVersion: apps/v1
kind: Deployment
metadata: {name: chat}
spec:
  replicas: 1
  selector: {matchLabels: {app: chat}}
  template:
    metadata: {labels: {app: chat}}
    spec:
      nodeSelector: {cloud.google.com/gke-accelerator: nvidia-l4}
      containers:
        - name: vllm
          image: vllm/vllm-openai:v0.19.0
          args: ["--model=Qwen/Qwen2.5-7B-Instruct", "--max-model-len=8192"]
          resources: {limits: {nvidia.com/gpu: 1}}
          startupProbe: {httpGet: {path: /health, port: 8000}, periodSeconds: 10, failureThreshold: 60}
          livenessProbe: {httpGet: {path: /health, port: 8000}, periodSeconds: 10}
          volumeMounts: [{name: hub, mountPath: /root/.cache/huggingface}]
      volumes: [{name: hub, persistentVolumeClaim: {claimName: hub}}]
)yaml",
    .check_deployment = &check,
};

}  // namespace kvbudget
