// Metric names are those that the plugin exports. Alert rules as Prometheus 2 and 3 read them; the
// same `groups` are the spec of a PrometheusRule.
#include "lint/plan/snippets.h"

#include <ostream>
#include <sstream>
#include <string>

#include "lint/plan/json.h"

namespace kvbudget::plan {
namespace {

std::string quoted(const std::string& text) {
  std::string result = "'";
  for (const char c : text) result += c == '\'' ? std::string("''") : std::string(1, c);
  return result + "'";
}

void write_args(const Plan& plan, std::ostream& out) {
  out << "# In the engine's container, behind its other arguments.\nargs:\n";
  for (const std::string& flag : plan.flags) out << "  - " << quoted(flag) << '\n';
}

void write_config_map(const Plan& plan, std::ostream& out) {
  out << "# The plan, for the pods of the deployment.\n"
         "apiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: kvbudget-plan\ndata:\n"
         "  plan.json: |\n";
  std::ostringstream json;
  print_json(plan_json(plan), json);
  std::istringstream lines(json.str());
  for (std::string line; std::getline(lines, line);) out << "    " << line << '\n';
}

void write_mount(std::ostream& out) {
  out << R"yaml(# In the pod's spec: the volume, and its mount in the engine's container.
volumes:
  - name: kvbudget-plan
    configMap: {name: kvbudget-plan}
containers:
  - volumeMounts:
      - {name: kvbudget-plan, mountPath: /etc/kvbudget, readOnly: true}
)yaml";
}

void write_alerts(const Plan& plan, std::ostream& out) {
  out << R"yaml(# Alert rules for Prometheus.
groups:
  - name: kvbudget
    rules:
      - alert: KvBudgetBelowPlan
        expr: kvbudget_budget_blocks < )yaml"
      << plan.usable_blocks << R"yaml(
        for: 5m
        labels: {severity: critical}
        annotations:
          summary: "{{ $labels.instance }} has {{ $value }} KV blocks, the plan has )yaml"
      << plan.usable_blocks << R"yaml("
      - alert: KvBudgetNearlyReserved
        expr: kvbudget_reserved_blocks > 0.95 * kvbudget_budget_blocks
        for: 10m
        labels: {severity: warning}
        annotations:
          summary: "{{ $labels.instance }}: {{ $value }} KV blocks are reserved, over 95 % of the budget"
      - alert: KvBudgetRequestsWait
        expr: sum by (instance) (kvbudget_pending_requests) > 0
        for: 5m
        labels: {severity: warning}
        annotations:
          summary: "{{ $labels.instance }}: {{ $value }} requests wait for KV blocks"
      - alert: KvBudgetDrift
        expr: kvbudget_reconcile_drift_blocks > 0.01 * kvbudget_budget_blocks
        for: 15m
        labels: {severity: warning}
        annotations:
          summary: "{{ $labels.instance }}: {{ $value }} KV blocks are in use that no request accounts for"
)yaml";
}

}  // namespace

void write_snippets(const Plan& plan, std::ostream& out) {
  write_args(plan, out);
  out << "---\n";
  write_config_map(plan, out);
  out << "---\n";
  write_mount(out);
  out << "---\n";
  write_alerts(plan, out);
}

}  // namespace kvbudget::plan
