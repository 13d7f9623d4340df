// Field meanings: Kubernetes API reference 1.30 (PodSpec, Container, NodeAffinity).

#include "lint/read/kubernetes_pod.h"

#include <algorithm>
#include <array>
#include <string_view>

#include "lint/read/kubernetes_surroundings.h"
#include "lint/read/mounted_files.h"

namespace kvbudget {
namespace {

// Labels by which a pod asks for a card or a machine, the most telling first.
constexpr std::array<std::string_view, 11> kGpuLabels = {
    "cloud.google.com/gke-accelerator",
    "run.googleapis.com/accelerator",
    "nvidia.com/gpu.product",
    "amd.com/gpu.product-name",
    "karpenter.k8s.aws/instance-gpu-name",
    "gpu.nvidia.com/class",
    "gpu.nvidia.com/model",
    "machine.cluster.vke.volcengine.com/gpu-name",
    "node.kubernetes.io/instance-type",
    "beta.kubernetes.io/instance-type",
    "kubernetes.azure.com/agentpool-vm-size"};

bool is_gpu_resource(std::string_view name) {
  return name == "nvidia.com/gpu" || name == "amd.com/gpu" || name == "nvidia.com/gpu.shared" ||
         name.substr(0, 15) == "nvidia.com/mig-";
}

std::optional<Located<std::string>> located(const Node* scalar) {
  if (scalar == nullptr || !scalar->is_scalar() || !word_of(*scalar).known) return std::nullopt;
  if (has_placeholder(scalar->scalar())) return std::nullopt;
  return Located<std::string>{std::string(scalar->scalar()), scalar->where};
}

/// The values that required node affinity leaves for `label`; several terms add up.
std::vector<const Node*> affinity_values(const Node& spec, std::string_view label) {
  const Node* terms =
      spec.at({"affinity", "nodeAffinity", "requiredDuringSchedulingIgnoredDuringExecution",
               "nodeSelectorTerms"});
  std::vector<const Node*> result;
  if (terms == nullptr) return result;
  for (const NodePtr& term : terms->items) {
    const Node* expressions = term->find("matchExpressions");
    if (expressions == nullptr) continue;
    for (const NodePtr& expression : expressions->items) {
      const Node* key = expression->find("key");
      const Node* op = expression->find("operator");
      const Node* values = expression->find("values");
      if (key == nullptr || key->scalar() != label || op == nullptr || op->scalar() != "In")
        continue;
      if (values == nullptr) continue;
      for (const NodePtr& value : values->items) result.push_back(value.get());
    }
  }
  return result;
}

void read_gpu_name(const Node& spec, GpuRequest& gpu) {
  const Node* selector = spec.find("nodeSelector");
  for (const std::string_view label : kGpuLabels) {
    std::vector<const Node*> values = affinity_values(spec, label);
    const Node* selected = selector == nullptr ? nullptr : selector->find(label);
    if (selected != nullptr) values = {selected};
    if (values.size() == 1) {
      if (auto name = located(values.front())) {
        gpu.name = std::move(name);
        return;
      }
    }
    if (values.size() < 2 || !gpu.choices.empty()) continue;
    for (const Node* value : values) {
      if (auto name = located(value)) gpu.choices.push_back(*std::move(name));
    }
  }
}

void read_gpu_count(const Node& container, GpuRequest& gpu) {
  for (const std::string_view list : {"limits", "requests"}) {
    const Node* resources = container.at({"resources", list});
    if (resources == nullptr) continue;
    for (const Entry& entry : resources->entries) {
      if (!is_gpu_resource(entry.key.view())) continue;
      gpu.resource = entry.key.str();
      gpu.count = number_of(entry.value.get());
      return;
    }
  }
}

void add_words(const Node* list, const std::vector<EnvVar>& env, std::vector<Word>& out) {
  if (list == nullptr) return;
  if (list->is_scalar()) out.push_back(expand_references(word_of(*list), env));
  for (const NodePtr& item : list->items) {
    if (item->is_scalar()) out.push_back(expand_references(word_of(*item), env));
    // `- key: value` where a string was meant is no argument that could be read.
  }
}

bool serves_traffic(const Node& container) {
  for (const std::string_view key : {"ports", "livenessProbe", "readinessProbe", "startupProbe"}) {
    const Node* value = container.find(key);
    if (value != nullptr && value->kind != Node::Kind::kNull) return true;
  }
  return false;
}

Container command_of(const Node& container, const std::vector<EnvVar>& env) {
  Container words;
  const Node* command = container.find("command");
  words.has_entrypoint = command != nullptr && command->kind != Node::Kind::kNull;
  add_words(command, env, words.words);
  add_words(container.find("args"), env, words.words);
  return words;
}

}  // namespace

bool is_gpu_label(std::string_view label) {
  return std::find(kGpuLabels.begin(), kGpuLabels.end(), label) != kGpuLabels.end();
}

ConfigMaps::ConfigMaps(const YamlFile& yaml) : limit_(yaml.limit) {
  for (const NodePtr& root : yaml.roots) {
    const Node* kind = root->find("kind");
    const Node* name = root->at({"metadata", "name"});
    const Node* data = root->find("data");
    if (kind == nullptr || kind->scalar() != "ConfigMap" || name == nullptr || data == nullptr) {
      continue;
    }
    data_.emplace(std::string(name->scalar()), data);
  }
}

const Node* ConfigMaps::find(std::string_view name) const {
  const auto found = data_.find(name);
  return found == data_.end() ? nullptr : found->second;
}

void describe_container(const Node& container, const Node& spec, const ConfigMaps& configs,
                        EngineStart& start) {
  start.around = container_surroundings(container, spec, start.around.get());
  add_environment(container, configs, start.env);
  if (const Node* image = container.find("image"); image != nullptr && image->is_scalar()) {
    start.image = image->text;
    start.image_known =
        word_of(*image).known && image->scalar().find('$') == std::string_view::npos;
  }
  read_gpu_name(spec, start.gpu);
  read_gpu_count(container, start.gpu);
  start.serves_traffic = start.serves_traffic || serves_traffic(container);
}

void read_container(const Node& container, const Node& spec, const ConfigMaps& configs,
                    EngineStart start, FileContents& out) {
  if (const Node* name = container.find("name"); name != nullptr && name->is_scalar()) {
    start.name += "/" + std::string(name->scalar());
  }
  start.where = container.where;
  describe_container(container, spec, configs, start);
  const Container command = command_of(container, start.env);
  const std::vector<MountedFile> files = mounted_files(container, spec, configs);
  const size_t before = out.starts.size();
  add_container_starts(command, start, out);
  if (out.starts.size() == before) {
    const MountedFile* script = find_script(files, command.words);
    if (script != nullptr && configs.spend_on(*script->text)) {
      add_script_starts(script->text->text, ShellScope(), start, out);
    }
  }
  for (size_t i = before; i < out.starts.size(); ++i) {
    EngineStart& found = out.starts[i];
    if (found.config.empty()) found.config = mounted_config(files, configs, found.argv);
    found.mounted_json = mounted_json(files, configs);
  }
}

void read_pod(const Node& spec, const ConfigMaps& configs, const EngineStart& base,
              FileContents& out) {
  for (const NodePtr& container : spec.find("containers")->items) {
    if (container->is_mapping()) read_container(*container, spec, configs, base, out);
  }
}

}  // namespace kvbudget
