// kthena's ModelBooster: a backend of workers whose `config` is the engine's command line. Sources:
// kthena, August 2026, pkg/apis/workload/v1alpha1/model_booster_types.go and
// pkg/model-booster-controller/convert (buildCommands). Its ModelServing holds pod templates
// (kubernetes.cc).

#include <algorithm>
#include <array>
#include <string>

#include "lint/read/flag_words.h"
#include "lint/read/kubernetes_pod.h"
#include "lint/read/manifest.h"
#include "lint/read/readers.h"

namespace kvbudget {
namespace {

bool is_vllm(const Node* type) {
  // The type may be a template's default.
  return type != nullptr && (type->scalar().find("vLLM") != std::string_view::npos ||
                             type->scalar().find("vllm") != std::string_view::npos);
}

/// The downloader's folder is a digest of the URI; what the URI names is what is loaded.
Word model_of(const Node& uri) {
  Word word = word_of(uri);
  for (const std::string_view scheme : {"hf://", "ms://"}) {
    if (word.text.view().starts_with(scheme)) word.text = word.text.substr(scheme.size());
  }
  return word;
}

/// Every key is a flag, switches have the empty text.
void add_config(const Node* config, std::vector<Word>& argv) {
  if (config == nullptr) return;
  for (const Entry& entry : config->entries) {
    if (!entry.value->is_scalar()) continue;
    argv.push_back(word_over("--" + entry.key.str(), entry.key));
    if (!entry.value->text.empty()) argv.push_back(word_of(*entry.value));
  }
}

std::optional<Located<uint32_t>> product(std::optional<Located<uint32_t>> groups,
                                         std::optional<Located<uint32_t>> each) {
  if (!groups || !each) return groups ? groups : each;
  const uint64_t value = uint64_t{groups->value} * each->value;
  return Located<uint32_t>{static_cast<uint32_t>(std::min<uint64_t>(value, UINT32_MAX)),
                           each->where};
}

void read_worker(const Node& backend, const Node& worker, const ConfigMaps& configs,
                 EngineStart start, FileContents& out) {
  const Entry* uri = backend.find_entry("modelURI");
  start.where = first_key(worker);
  if (const Node* type = worker.find("type"); type != nullptr && word_of(*type).known) {
    start.name += "/" + std::string(type->scalar());
  }
  add_environment(backend, configs, start.env);
  describe_container(worker, worker, configs, start);
  start.replicas = product(start.replicas, number_of(worker.find("replicas")));
  start.serves_traffic = start.replicas && start.replicas->value > 0;
  start.argv = {word_over("--model", uri->key), model_of(*uri->value)};
  add_config(worker.find("config"), start.argv);
  if (const Entry* pods = worker.find_entry("pods")) {
    const auto count = number_of(pods->value.get());
    if (count && count->value > 1) {
      start.nodes = count;
      start.argv.push_back(word_over("--distributed-executor-backend", pods->key));
      start.argv.push_back(word_over("ray", pods->value->text));
    }
  }
  out.starts.push_back(std::move(start));
}

void read_backend(const YamlFile& yaml, const Node& root, const Node& backend, FileContents& out) {
  const Node* uri = backend.find("modelURI");
  const Node* workers = backend.find("workers");
  if (!is_vllm(backend.find("type")) || workers == nullptr) return;
  if (uri == nullptr || !uri->is_scalar()) return;
  EngineStart start = object_start(yaml, root, "kthena");
  start.serve = false;
  start.replicas = number_of(backend.find("replicas"));
  if (!start.replicas) start.replicas = number_of(backend.find("minReplicas"));
  const ConfigMaps configs(yaml);
  for (const NodePtr& worker : workers->items) {
    const bool whole = worker->is_mapping() && !worker->entries.empty();
    if (whole && yaml.limit.spend_on(backend)) read_worker(backend, *worker, configs, start, out);
  }
}

}  // namespace

bool read_kthena(const YamlFile& yaml, const Node& root, FileContents& out) {
  if (!is_object(root, "ModelBooster", "workload.serving.volcano.sh/")) return false;
  const Node* spec = root.find("spec");
  if (spec == nullptr) return true;
  if (const Node* backend = spec->find("backend")) read_backend(yaml, root, *backend, out);
  const Node* list = spec->find("backends");  // several, up to 0.1
  if (list == nullptr) return true;
  for (const NodePtr& backend : list->items) read_backend(yaml, root, *backend, out);
  return true;
}

}  // namespace kvbudget
