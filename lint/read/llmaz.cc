// llmaz: BackendRuntime (how an engine is started, with argument lists by name) and Playground (a
// model on a backend, vLLM unless it says otherwise). Source: llmaz 0.2, api/inference/v1alpha1,
// api/core/v1alpha1 (OpenModel).

#include <string>

#include "lint/read/flag_words.h"
#include "lint/read/kubernetes_pod.h"
#include "lint/read/manifest.h"
#include "lint/read/readers.h"

namespace kvbudget {
namespace {

constexpr std::string_view kGroup = "inference.llmaz.io/";

void add_list(const Node* list, std::vector<Word>& words) {
  if (list == nullptr) return;
  for (const NodePtr& item : list->items) {
    if (item->is_scalar()) words.push_back(word_of(*item));
  }
}

/// `image` and, as its tag, `version`.
void set_image(const Node& spec, EngineStart& start) {
  const Node* image = spec.find("image");
  const Node* tag = spec.find("version");
  if (image == nullptr || !image->is_scalar()) return;
  start.image = image->text;
  start.image_known = word_of(*image).known && (tag == nullptr || word_of(*tag).known);
  if (tag == nullptr || !tag->is_scalar()) return;
  start.image->append_synthetic(":", tag->text.offset(0));
  start.image->append(tag->text);
}

void read_runtime(const YamlFile& yaml, const Node& root, FileContents& out) {
  const Node* spec = root.find("spec");
  const Node* configs = spec == nullptr ? nullptr : spec->find("recommendedConfigs");
  if (configs == nullptr || !yaml.limit.spend_on(root)) return;
  for (const NodePtr& config : configs->items) {
    EngineStart start = object_start(yaml, root, "llmaz");
    if (const Node* name = config->find("name"); name != nullptr && name->is_scalar()) {
      start.name += "/" + std::string(name->scalar());
    }
    describe_container(*config, *config, ConfigMaps(yaml), start);
    set_image(*spec, start);
    Container container;
    container.has_entrypoint = spec->find("command") != nullptr;
    add_list(spec->find("command"), container.words);
    const size_t first = container.words.size();
    add_list(config->find("args"), container.words);
    const size_t before = out.starts.size();
    add_container_starts(container, start, out);
    // The command is shared: each list of arguments is an engine.
    for (size_t i = before; i < out.starts.size() && first < container.words.size(); ++i) {
      out.starts[i].where = container.words[first].text.location();
    }
  }
}

class Playground {
 public:
  Playground(const YamlFile& yaml, const Node& root, FileContents& out)
      : yaml_(yaml),
        out_(out),
        start_(object_start(yaml, root, "llmaz")),
        spec_(root.find("spec")) {}

  void read() {
    if (spec_ == nullptr) return;
    const Node* backend = spec_->at({"backendRuntimeConfig", "backendName"});
    if (backend != nullptr && backend->is_scalar() && backend->scalar() != "vllm") return;
    start_.serve = false;
    start_.serves_traffic = true;
    start_.replicas = number_of(spec_->find("replicas"));
    const Node* name = spec_->at({"modelClaim", "modelName"});
    if (name == nullptr) name = main_model();
    if (name != nullptr && name->is_scalar()) add_model(*name);
    const Node* config = spec_->find("backendRuntimeConfig");
    if (config != nullptr) {
      describe_container(*config, *config, ConfigMaps(yaml_), start_);
      add_list(config->find("args"), start_.argv);
    }
    out_.starts.push_back(std::move(start_));
  }

 private:
  const Node* main_model() const {
    const Node* models = spec_->at({"modelClaims", "models"});
    for (const NodePtr& item : models == nullptr ? std::vector<NodePtr>() : models->items) {
      const Node* role = item->find("role");
      if (role == nullptr || role->scalar() == "main") return item->find("name");
    }
    return nullptr;
  }

  /// The repository that an OpenModel of the file gives for the name, and the GPUs of its first
  /// flavour.
  void add_model(const Node& name) {
    const Node* model = find_model(name.scalar());
    const Node* id = model == nullptr ? nullptr : model->at({"source", "modelHub", "modelID"});
    start_.argv.push_back(word_over("--model", name.text));
    start_.argv.push_back(id == nullptr || !id->is_scalar() ? Word{name.text, false}
                                                            : word_of(*id));
    const Node* flavors = model == nullptr ? nullptr : model->at({"inferenceConfig", "flavors"});
    if (flavors == nullptr || flavors->items.empty()) return;
    // A flavour's limits are those of a container, its node selector that of a pod.
    auto container = std::make_shared<Node>();
    container->kind = Node::Kind::kMapping;
    container->entries.push_back({SourceText("resources"), flavors->items.front()});
    describe_container(*container, *flavors->items.front(), ConfigMaps(yaml_), start_);
  }

  const Node* find_model(std::string_view name) const {
    if (!yaml_.limit.spend(64 * yaml_.roots.size())) return nullptr;
    for (const NodePtr& root : yaml_.roots) {
      const Node* own = root->at({"metadata", "name"});
      if (own != nullptr && own->scalar() == name && is_object(*root, "OpenModel", "llmaz.io/")) {
        return root->find("spec");
      }
    }
    return nullptr;
  }

  const YamlFile& yaml_;
  FileContents& out_;
  EngineStart start_;
  const Node* spec_;
};

}  // namespace

bool read_llmaz(const YamlFile& yaml, const Node& root, FileContents& out) {
  if (is_object(root, "BackendRuntime", kGroup)) {
    read_runtime(yaml, root, out);
    return true;
  }
  if (!is_object(root, "Playground", kGroup)) return false;
  if (yaml.limit.spend_on(root)) Playground(yaml, root, out).read();
  return true;
}

}  // namespace kvbudget
