#include <optional>
#include <string>

#include "lint/rule.h"
#include "rules/container.h"
#include "rules/listeners.h"

namespace kvbudget {
namespace {

/// The number behind a name; the name itself when nothing has it.
std::string number_of(const std::string& port, const Surroundings& around, bool own_only) {
  if (is_port_number(port)) return port;
  for (const NamedPort& named : around.ports) {
    if (named.name == port && (named.own || !own_only)) return named.number;
  }
  return port;
}

void report_port(const Located<std::string>& asked, const std::string& number,
                 const std::string& who, const Listeners& listeners, Reporter& reporter) {
  const std::string named = number == asked.value ? number : number + " (" + asked.value + ")";
  Diagnostic& finding = reporter.report(
      asked.where, who + " asks port " + named + "; the engine listens on " + listeners.engine,
      listeners.certain ? Severity::kError : Severity::kWarning);
  if (!is_port_number(asked.value)) return;
  Fix fix;
  fix.safe = listeners.certain;
  fix.description = "ask port " + listeners.engine;
  fix.edits.push_back({asked.where, listeners.engine});
  finding.fix = std::move(fix);
}

void check_probes(const Surroundings& around, const Listeners& listeners, Reporter& reporter) {
  struct Kind {
    const char* name;
    const std::optional<Probe>& probe;
  };
  const Kind kinds[] = {{"the startup probe", around.startup},
                        {"the liveness probe", around.liveness},
                        {"the readiness probe", around.readiness}};
  for (const Kind& kind : kinds) {
    if (!kind.probe || !kind.probe->port) continue;
    const std::string number = number_of(kind.probe->port->value, around, true);
    if (listeners.ports.count(number) > 0) continue;
    report_port(*kind.probe->port, number, kind.name, listeners, reporter);
  }
}

void check_services(const Surroundings& around, const Listeners& listeners, Reporter& reporter) {
  if (around.target_ports.empty()) return;
  for (const NamedPort& target : around.target_ports) {
    if (listeners.ports.count(number_of(target.number, around, false)) > 0) return;
  }
  const NamedPort& first = around.target_ports.front();
  report_port({first.number, first.where}, number_of(first.number, around, false), "the Service",
              listeners, reporter);
}

void check(const Neighbours& neighbours, Reporter& reporter) {
  for (size_t i = 0; i < neighbours.deployments.size(); ++i) {
    const Deployment& d = neighbours.deployments[i];
    const Surroundings* around = whole_container(d);
    if (around == nullptr || !around->kubernetes || around->undeclared_ports) continue;
    const Listeners listeners = listeners_of(d, neighbours.deployments);
    if (!listeners.known) continue;
    reporter.about(neighbours.first + static_cast<int>(i));
    check_probes(*around, listeners, reporter);
    check_services(*around, listeners, reporter);
  }
}

}  // namespace

extern const Rule probe_port_without_listener_rule;
const Rule probe_port_without_listener_rule = {
    .id = "KVB514",
    .name = "probe-port-without-listener",
    .severity = Severity::kError,
    .summary = "a probe or a Service asks a port on which nothing listens",
    .doc = R"md(
## What it does
Compares the ports of probes and Services with those on which the pod listens.

## Why it matters
A probe that never passes gets the container killed or keeps it out of its Service for ever; requests to the
Service are refused.

## How it is computed
Listening are the engines of the workload on `--port` (8000 by default) and the other containers on the ports
that they declare, and other ports that settings and variables name; names of ports are looked up in the pod. A
port that the engine's own container only declares has no listener. Services are judged together: one of their
ports has to lead to an engine or to another container. A warning where a script starts the engine, which may
start other programs too. Silent where another container declares no ports, with Ray, and for headless engines.

## Fix
The engine's port.

## Since which engine version
All.

## References
Kubernetes documentation, "Configure Liveness, Readiness and Startup Probes".
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
      args: ["--model=Qwen/Qwen2.5-7B-Instruct", "--max-model-len=8192", "--port=8000"]
      resources: {limits: {nvidia.com/gpu: 1}}
      readinessProbe:
        httpGet:
          path: /health
          port: 8080  # expect: KVB514
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
      args: ["--model=Qwen/Qwen2.5-7B-Instruct", "--max-model-len=8192", "--port=8000"]
      resources: {limits: {nvidia.com/gpu: 1}}
      readinessProbe: {httpGet: {path: /health, port: 8000}}
)yaml",
    .check_neighbours = &check,
};

}  // namespace kvbudget
