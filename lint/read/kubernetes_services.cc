// Field meanings: Kubernetes API reference 1.30 (Service, Ingress); load balancers of a cloud's own
// network by the annotations of AWS, Google and Azure.
#include "lint/read/kubernetes_services.h"

#include <algorithm>
#include <string>

#include "lint/read/container.h"
#include "lint/read/manifest.h"

namespace kvbudget {
namespace {

const Node* pod_labels(const Node& workload) {
  const Node* labels = workload.at({"spec", "template", "metadata", "labels"});
  return labels != nullptr ? labels : workload.at({"metadata", "labels"});
}

bool selects(const Node* selector, const Node* labels) {
  if (selector == nullptr || labels == nullptr || selector->entries.empty()) return false;
  return std::all_of(selector->entries.begin(), selector->entries.end(), [&](const Entry& entry) {
    return has_text(labels->find(entry.key.view()), entry.value->scalar());
  });
}

void read_target_ports(const Node& service, Surroundings& around) {
  const Node* ports = service.at({"spec", "ports"});
  if (ports == nullptr) return;
  for (const NodePtr& port : ports->items) {
    const Node* target = port->find("targetPort");
    if (target == nullptr) target = port->find("port");
    if (const auto text = located_text(target)) {
      around.target_ports.push_back({"", text->value, text->where});
    }
  }
}

/// Two objects that say so stand in namespaces of their own; whoever says nothing goes where the
/// others go.
bool share_namespace(const Node& a, const Node& b) {
  const Node* first = a.at({"metadata", "namespace"});
  const Node* second = b.at({"metadata", "namespace"});
  return first == nullptr || second == nullptr || first->scalar() == second->scalar();
}

/// Clouds have a load balancer for their own network too.
bool is_internal(const Node& service) {
  const Node* annotations = service.at({"metadata", "annotations"});
  if (annotations == nullptr) return false;
  return std::any_of(annotations->entries.begin(), annotations->entries.end(),
                     [](const Entry& entry) {
                       const std::string_view name = entry.key.view();
                       const std::string_view value = entry.value->scalar();
                       if (name.find("load-balancer") == std::string_view::npos) return false;
                       return value == "internal" || value == "Internal" ||
                              (name.find("internal") != std::string_view::npos && value != "false");
                     });
}

void read_service(const Node& service, const Node& workload, Surroundings& around) {
  const auto name = located_text(service.at({"metadata", "name"}));
  if (!name || !share_namespace(service, workload)) return;
  const auto type = located_text(service.at({"spec", "type"}));
  const bool has_address = !has_text(service.at({"spec", "clusterIP"}), "None") &&
                           (!type || type->value != "ExternalName");
  if (has_address) around.services.push_back(*name);
  if (!selects(service.at({"spec", "selector"}), pod_labels(workload))) return;
  around.own_services.push_back(name->value);
  read_target_ports(service, around);
  const bool open = type && (type->value == "LoadBalancer" || type->value == "NodePort");
  if (open && !is_internal(service)) {
    around.exposures.push_back({"Service " + name->value + " of type " + type->value, type->where});
  }
}

/// Whether an Ingress sends requests to one of the pod's Services; one that asks another server who
/// may come in is that server's business.
void read_ingress(const Node& ingress, Surroundings& around) {
  const Node* annotations = ingress.at({"metadata", "annotations"});
  for (const Entry& entry : annotations == nullptr ? std::vector<Entry>() : annotations->entries) {
    if (entry.key.view().find("auth") != std::string_view::npos) return;
  }
  const auto leads_here = [&](const Node* backend) {
    const Node* name = backend == nullptr ? nullptr : backend->at({"service", "name"});
    return name != nullptr && std::find(around.own_services.begin(), around.own_services.end(),
                                        name->scalar()) != around.own_services.end();
  };
  bool leads = leads_here(ingress.at({"spec", "defaultBackend"}));
  const Node* rules = ingress.at({"spec", "rules"});
  for (const NodePtr& rule : rules == nullptr ? std::vector<NodePtr>() : rules->items) {
    const Node* paths = rule->at({"http", "paths"});
    for (const NodePtr& path : paths == nullptr ? std::vector<NodePtr>() : paths->items) {
      leads = leads || leads_here(path->find("backend"));
    }
  }
  const auto name = located_text(ingress.at({"metadata", "name"}));
  if (leads && name) around.exposures.push_back({"Ingress " + name->value, name->where});
}

}  // namespace

void read_services(const Node& workload, const std::vector<NodePtr>& roots, Surroundings& around) {
  for (const NodePtr& root : roots) {
    if (has_text(root->find("kind"), "Service")) read_service(*root, workload, around);
  }
  for (const NodePtr& root : roots) {
    if (is_kind(*root, "Ingress") && share_namespace(*root, workload)) {
      read_ingress(*root, around);
    }
  }
}

}  // namespace kvbudget
