// KAITO: Workspace, InferenceSet and MultiRoleInference.
//
// Fields are those of api/v1beta1 and api/v1alpha1, the command that of pkg/model/interface.go and
// presets/workspace/inference/vllm/inference_api.py (github.com/kaito-project/kaito, August 2026).
// A preset names the model, a ConfigMap of the same file holds options under `vllm`. What KAITO
// chooses itself (parallel sizes by the machine, the context by what fits) is not in the file: the
// command line counts as incomplete unless the options say it.

#include <algorithm>
#include <array>
#include <string>

#include "lint/read/container.h"
#include "lint/read/kaito_presets.h"
#include "lint/read/kubernetes_pod.h"
#include "lint/read/manifest.h"
#include "lint/read/rendered.h"

namespace kvbudget {
namespace {

constexpr std::string_view kInstanceType = "node.kubernetes.io/instance-type";

/// The model of a preset: a short name or an id on the Hub.
NodePtr model_of(const NodePtr& preset) {
  if (preset == nullptr || !preset->is_scalar()) return nullptr;
  const std::string_view name = preset->scalar();
  if (name.find('/') != std::string_view::npos || !word_of(*preset).known) return preset;
  const std::string_view model = kaito_preset(name);
  return model.empty() ? nullptr : text_at(model, preset->where);
}

/// Options in the ConfigMap that `config` names; true when they leave KAITO nothing to choose.
bool add_options(const YamlFile& yaml, const Node* config, RenderedPod& pod) {
  const ConfigMaps maps(yaml);
  const Node* data = config == nullptr ? nullptr : maps.find(config->scalar());
  const Node* text = data == nullptr ? nullptr : data->find("inference_config.yaml");
  if (text == nullptr || !text->is_scalar() || !maps.spend_on(*text)) return false;
  const Document options = parse_yaml(text->text);
  const Node* vllm = options.roots.empty() ? nullptr : options.roots.front()->find("vllm");
  if (vllm == nullptr) return false;
  for (const Entry& entry : vllm->entries) {
    const KeyForm form = truth_of(entry.value.get()) ? KeyForm::kPair : KeyForm::kValue;
    add_flag(entry, entry.key.view(), form, pod.args);
  }
  static constexpr std::array<std::string_view, 3> kChosen = {
      "tensor-parallel-size", "max-model-len", "gpu-memory-utilization"};
  return std::all_of(kChosen.begin(), kChosen.end(),
                     [&](std::string_view key) { return vllm->find(key) != nullptr; });
}

/// A slice or a number of cards, where the machine is not taken whole.
NodePtr partition_of(const Node* partition) {
  if (partition == nullptr) return nullptr;
  NodePtr count = share(partition, "count");
  const NodePtr mode = share(partition, "mode");
  if (count == nullptr && mode != nullptr) count = text_at("1", mode->where);
  const std::string_view profile = text_of(partition, "profile");
  if (profile.empty()) return limits_of("nvidia.com/gpu", count);
  return limits_of("nvidia.com/mig-" + std::string(profile), count);
}

void read_preset(const YamlFile& yaml, const NodePtr& preset, const Node* config, RenderedPod pod,
                 FileContents& out) {
  const NodePtr model = model_of(preset);
  const bool complete = add_options(yaml, config, pod);
  pod.serve(model.get());
  if (!complete) {  // in front, where no flag takes it for its value
    Word chosen = word_over("(chosen by KAITO)", preset->text);
    chosen.known = false;
    pod.args.insert(pod.args.begin() + (model == nullptr ? 0 : 1), std::move(chosen));
  }
  read_rendered_pod(yaml, std::move(pod), out);
}

/// `owner` holds `resource` and `inference`.
bool read_inference(const YamlFile& yaml, const Node& owner, RenderedPod pod, FileContents& out) {
  const Node* inference = owner.find("inference");
  const Node* preset = inference == nullptr ? nullptr : inference->find("preset");
  const NodePtr name = share(preset, "name");
  if (name == nullptr) return false;
  const Node* resource = owner.find("resource");
  if (NodePtr type = share(resource, "instanceType")) {
    pod.node_selector = map_of({{kInstanceType, type}});
  }
  pod.resources = partition_of(resource == nullptr ? nullptr : resource->find("partition"));
  const auto count = number_of(resource == nullptr ? nullptr : resource->find("count"));
  if (count && count->value > 1) pod.base.nodes = count;
  read_preset(yaml, name, inference->find("config"), std::move(pod), out);
  return true;
}

void read_roles(const YamlFile& yaml, const Node& spec, const std::string& owner,
                FileContents& out) {
  const NodePtr model = share(spec.find("model"), "name");
  const Node* roles = spec.find("roles");
  if (model == nullptr || roles == nullptr) return;
  for (const NodePtr& role : roles->items) {
    if (!role->is_mapping() || !yaml.limit.spend_on(*role)) continue;
    RenderedPod pod(yaml, "kaito", owner + "/" + std::string(text_of(role.get(), "type")),
                    first_key(*role));
    pod.base.replicas = number_of(role->find("replicas"));
    if (NodePtr type = share(role.get(), "instanceType")) {
      pod.node_selector = map_of({{kInstanceType, type}});
    }
    read_preset(yaml, model, role->find("runtimeConfig"), std::move(pod), out);
  }
}

/// The Transformers runtime is chosen by an annotation; its engine is not vLLM.
bool runs_vllm(const Node& root, const Node* inner) {
  for (const Node* metadata : {root.find("metadata"), inner}) {
    const Node* runtime =
        metadata == nullptr ? nullptr : metadata->at({"annotations", "kaito.sh/runtime"});
    if (runtime != nullptr && runtime->scalar() == "transformers") return false;
  }
  return true;
}

}  // namespace

bool read_kaito(const YamlFile& yaml, const Node& root, FileContents& out) {
  const std::string_view kind = text_of(&root, "kind");
  if (text_of(&root, "apiVersion").substr(0, 9) != "kaito.sh/") return false;
  const Node* metadata = root.find("metadata");
  const std::string name = std::string(kind) + "/" + std::string(text_of(metadata, "name"));
  RenderedPod pod(yaml, "kaito", name, first_key(root));
  const Node* spec = root.find("spec");
  if (kind == "Workspace") {
    return !runs_vllm(root, nullptr) || read_inference(yaml, root, std::move(pod), out);
  }
  if (spec == nullptr) return false;
  if (kind == "MultiRoleInference") {
    read_roles(yaml, *spec, name, out);
    return true;
  }
  const Node* set = spec->find("template");
  if (kind != "InferenceSet" || set == nullptr) return false;
  if (!runs_vllm(root, set->find("metadata"))) return true;
  pod.base.replicas = number_of(spec->find("replicas"));
  if (NodePtr served = share(metadata, "name")) {
    pod.add_argument("--served-model-name", *served);
  }
  return read_inference(yaml, *set, std::move(pod), out);
}

}  // namespace kvbudget
