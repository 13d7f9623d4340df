// NVIDIA Dynamo's custom resources: DynamoGraphDeployment and DynamoComponentDeployment, v1alpha1
// (`services`, `extraPodSpec.mainContainer`) and v1beta1 (`components`, `podTemplate`). Fields:
// ai-dynamo/dynamo, deploy/operator/api (2026-08). Graphs of `dynamo serve` carry the settings of
// all components as JSON in the variable DYN_DEPLOYMENT_CONFIG.

#include <algorithm>
#include <string>

#include "lint/read/dynamo_config.h"
#include "lint/read/kubernetes_pod.h"
#include "lint/read/readers.h"

namespace kvbudget {
namespace {

constexpr std::string_view kConfigVariable = "DYN_DEPLOYMENT_CONFIG";

/// `resources` of a component: the GPUs have a short name of their own.
void read_gpus(const Node& component, GpuRequest& gpu) {
  for (const std::string_view list : {"limits", "requests"}) {
    const Node* resources = component.at({"resources", list});
    const Node* count = resources == nullptr ? nullptr : resources->find("gpu");
    if (count == nullptr) continue;
    const Node* type = resources->find("gpuType");
    gpu.resource = type == nullptr ? "nvidia.com/gpu" : std::string(type->scalar());
    gpu.count = number_of(count);
    return;
  }
}

class Graph {
 public:
  Graph(const YamlFile& yaml, const Node& root, FileContents& out)
      : spec_(*root.find("spec")), configs_(yaml), out_(out) {
    base_.file = &yaml.file;
    base_.kind = "dynamo";
    base_.name = std::string(root.find("kind")->scalar());
    if (const Node* name = root.at({"metadata", "name"})) {
      base_.name += "/" + std::string(name->scalar());
    }
    read_variables(spec_, base_.env);
    for (const EnvVar& variable : base_.env) {
      if (variable.name.view() == kConfigVariable) config_ = parse_yaml(variable.value);
    }
    std::erase_if(base_.env, [](const EnvVar& v) { return v.name.view() == kConfigVariable; });
  }

  void read() {
    for (const std::string_view key : {"services", "components"}) {
      const Node* list = spec_.find(key);
      if (list == nullptr) continue;
      for (const Entry& entry : list->entries) component(*entry.value, entry.key);
      for (const NodePtr& item : list->items) {
        const Node* name = item->find("name");
        component(*item, name == nullptr ? SourceText() : name->text);
      }
    }
    component(spec_, SourceText());  // a DynamoComponentDeployment is one component
  }

 private:
  /// v1alpha1 says `envs`, v1beta1 `env`.
  void read_variables(const Node& node, std::vector<EnvVar>& env) const {
    for (const std::string_view key : {"envs", "env"}) {
      if (const Node* list = node.find(key)) add_variable_list(*list, configs_, env);
    }
  }

  void component(const Node& node, const SourceText& name) {
    EngineStart start = base_;
    if (!name.empty()) start.name += "/" + name.str();
    start.where = node.where;
    start.replicas = number_of(node.find("replicas"));
    start.serves_traffic = start.replicas && start.replicas->value > 0;
    const auto nodes = number_of(node.at({"multinode", "nodeCount"}));
    if (nodes && nodes->value > 1) start.nodes = nodes;
    read_gpus(node, start.gpu);
    if (&node != &spec_) read_variables(node, start.env);
    const Node* pod = node.at({"podTemplate", "spec"});
    if (pod != nullptr && pod->find("containers") != nullptr) {
      read_pod(*pod, configs_, start, out_);
    }
    const Node* main = node.at({"extraPodSpec", "mainContainer"});
    if (main == nullptr) return;
    const size_t before = out_.starts.size();
    read_container(*main, *node.find("extraPodSpec"), configs_, start, out_);
    if (out_.starts.size() == before) section(*main, *node.find("extraPodSpec"), start, name);
  }

  /// `dynamo serve` reads the component's settings from the graph's configuration.
  void section(const Node& container, const Node& spec, EngineStart start, const SourceText& name) {
    if (config_.roots.empty()) return;
    const Node& config = *config_.roots.front();
    const Entry* entry = config.find_entry(name.view());
    if (entry == nullptr || !is_dynamo_config(config)) return;
    start.where = {};
    describe_container(container, spec, configs_, start);
    add_dynamo_section(config, *entry, start, out_);
  }

  const Node& spec_;
  ConfigMaps configs_;
  Document config_;
  EngineStart base_;
  FileContents& out_;
};

}  // namespace

bool read_dynamo(const YamlFile& yaml, const Node& root, FileContents& out) {
  const Node* kind = root.find("kind");
  const Node* spec = root.find("spec");
  if (kind == nullptr || spec == nullptr || !spec->is_mapping()) return false;
  if (kind->scalar() != "DynamoGraphDeployment" && kind->scalar() != "DynamoComponentDeployment") {
    return false;
  }
  if (yaml.limit.spend_on(root)) Graph(yaml, root, out).read();
  return true;
}

}  // namespace kvbudget
