// KubeAI: its Model resource and the catalog of the chart `models`.
//
// The pod is that of internal/modelcontroller/engine_vllm.go, profiles are those of
// charts/kubeai/values.yaml, a profile's count behind its name multiplies it
// (github.com/substratusai/kubeai, July 2025). Entries of a catalog count whether enabled or not:
// a catalog is a stock of settings, of which other files choose.

#include <algorithm>
#include <array>
#include <string>

#include "lint/read/container.h"
#include "lint/read/manifest.h"
#include "lint/read/rendered.h"

namespace kvbudget {
namespace {

bool starts_with(std::string_view text, std::string_view head) {
  return text.substr(0, head.size()) == head;
}

constexpr std::array kArguments = {KeyFlag{"args", "", KeyForm::kWords}};

NodePtr part_of(const Node& scalar, size_t begin, size_t count = std::string::npos) {
  return scalar_of(scalar.text.substr(begin, count));
}

/// What `--model` gets of a URL: the id on the Hub, the mount of a claim, the address of a bucket.
NodePtr model_of(const NodePtr& url) {
  if (url == nullptr || !url->is_scalar()) return nullptr;
  const std::string_view text = url->scalar();
  const size_t query = std::min(text.find('?'), text.size());
  if (starts_with(text, "hf://")) return part_of(*url, 5, query - 5);
  if (starts_with(text, "pvc://")) return text_at("/model", url->where);
  return part_of(*url, 0, query);
}

/// "nvidia-gpu-l4:2": card, resource and number. Profiles of CPUs and TPUs ask for no GPU.
void add_profile(const NodePtr& profile, RenderedPod& pod) {
  if (profile == nullptr || !profile->is_scalar()) return;
  const std::string_view text = profile->scalar();
  const size_t colon = std::min(text.find(':'), text.size());
  const std::string_view name = text.substr(0, colon);
  const bool other = name.find("cpu") != std::string_view::npos ||
                     name.find("tpu") != std::string_view::npos ||
                     name.find("gaudi") != std::string_view::npos;
  if (name.empty() || other) return;
  constexpr std::string_view kGpu = "gpu-";
  const size_t gpu = name.find(kGpu);
  const size_t card = gpu == std::string_view::npos ? 0 : gpu + kGpu.size();
  pod.node_selector = map_of({{"nvidia.com/gpu.product", part_of(*profile, card, colon - card)}});
  NodePtr count =
      colon + 1 < text.size() ? part_of(*profile, colon + 1) : text_at("1", profile->where);
  pod.resources = limits_of(starts_with(name, "amd") ? "amd.com/gpu" : "nvidia.com/gpu", count);
}

void add_environment(const Node* env, RenderedPod& pod) {
  if (env == nullptr) return;
  for (const Entry& entry : env->entries) {
    pod.env.push_back(map_of({{"name", scalar_of(entry.key)}, {"value", entry.value}}));
  }
}

void read_model(const YamlFile& yaml, const Node& spec, RenderedPod pod, NodePtr name,
                FileContents& out) {
  if (text_of(&spec, "engine") != "VLLM" || !yaml.limit.spend_on(spec)) return;
  pod.run_module();
  if (NodePtr model = model_of(share(&spec, "url"))) {
    pod.add_argument("--model", *model);
    const bool streamed = starts_with(model->scalar(), "s3://");
    if (streamed) pod.add_argument("--load-format", *text_at("runai_streamer", model->where));
  }
  if (name != nullptr) pod.add_argument("--served-model-name", *name);
  add_flags(&spec, kArguments, pod.args);
  const NodePtr adapters = share(&spec, "adapters");
  if (is_true(adapters.get())) {
    pod.args.push_back(word_of(*text_at("--enable-lora", adapters->where)));
    pod.add_variable("VLLM_ALLOW_RUNTIME_LORA_UPDATING", "True", adapters->where);
  }
  add_environment(spec.find("env"), pod);
  add_profile(share(&spec, "resourceProfile"), pod);
  if (NodePtr image = share(&spec, "image")) pod.image = image;
  pod.base.replicas = number_of(spec.find("replicas"));
  if (!pod.base.replicas) pod.base.replicas = number_of(spec.find("minReplicas"));
  read_rendered_pod(yaml, std::move(pod), out);
}

bool is_catalog(const Node* catalog) {
  if (catalog == nullptr || !catalog->is_mapping()) return false;
  return std::any_of(catalog->entries.begin(), catalog->entries.end(), [](const Entry& entry) {
    return entry.value->find("engine") != nullptr && entry.value->find("url") != nullptr;
  });
}

}  // namespace

bool read_kubeai_model(const YamlFile& yaml, const Node& root, FileContents& out) {
  if (text_of(&root, "kind") != "Model") return false;
  if (!starts_with(text_of(&root, "apiVersion"), "kubeai.org/")) return false;
  const Node* spec = root.find("spec");
  if (spec == nullptr) return true;
  NodePtr name = share(root.find("metadata"), "name");
  RenderedPod pod(yaml, "kubeai", "Model/" + std::string(text_of(root.find("metadata"), "name")),
                  first_key(root));
  read_model(yaml, *spec, std::move(pod), std::move(name), out);
  return true;
}

bool read_kubeai_catalog(const YamlFile& yaml, const Node& root, FileContents& out) {
  const Node* catalog = root.find("catalog");
  if (!is_catalog(catalog)) catalog = root.at({"models", "catalog"});
  if (!is_catalog(catalog)) return false;
  for (const Entry& entry : catalog->entries) {
    if (!entry.value->is_mapping()) continue;
    RenderedPod pod(yaml, "kubeai", "catalog/" + entry.key.str(), entry.key.location());
    read_model(yaml, *entry.value, std::move(pod), scalar_of(entry.key), out);
  }
  return true;
}

}  // namespace kvbudget
