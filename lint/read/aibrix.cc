// AIBrix's ModelClaim: the runtime sidecar of a warm pod starts the API server for it. Source:
// aibrix 0.5, api/model/v1alpha1/modelclaim_types.go and
// python/aibrix/aibrix/runtime/model_runtime.py. Its other kinds hold pod templates
// (kubernetes.cc).

#include <array>
#include <string>

#include "lint/read/container.h"
#include "lint/read/flag_words.h"
#include "lint/read/manifest.h"
#include "lint/read/readers.h"

namespace kvbudget {
namespace {

/// Repositories of the Hub are loaded by name, everything else from where it is.
Word model_of(const Node& url) {
  Word word = word_of(url);
  for (const std::string_view scheme : {"huggingface://", "hf://"}) {
    if (word.text.view().starts_with(scheme)) word.text = word.text.substr(scheme.size());
  }
  return word;
}

}  // namespace

bool read_aibrix(const YamlFile& yaml, const Node& root, FileContents& out) {
  if (!is_object(root, "ModelClaim", "model.aibrix.ai/")) return false;
  const Node* spec = root.find("spec");
  const Entry* url = spec == nullptr ? nullptr : spec->find_entry("artifactURL");
  if (url == nullptr || !url->value->is_scalar()) return true;
  const Node* engine = spec->find("engine");
  if (engine != nullptr && engine->is_scalar() && engine->scalar() != "vllm") return true;

  EngineStart& start = out.starts.emplace_back(object_start(yaml, root, "aibrix"));
  start.serve = false;
  start.serves_traffic = true;
  start.replicas = number_of(spec->find("replicas"));
  start.argv = {word_over("--model", url->key), model_of(*url->value)};
  const Entry* name = spec->find_entry("modelName");
  const Node* metadata = root.find("metadata");
  if (name == nullptr && metadata != nullptr) name = metadata->find_entry("name");
  if (name != nullptr) add_flag(*name, "served-model-name", KeyForm::kValue, start.argv);
  const Node* args = spec->at({"engineConfig", "args"});
  if (args == nullptr) return true;
  for (const Entry& entry : args->entries) {
    if (!entry.value->is_scalar() && entry.value->kind != Node::Kind::kNull) continue;
    start.argv.push_back({entry.key, true});
    if (!entry.value->text.empty()) start.argv.push_back(word_of(*entry.value));
  }
  return true;
}

}  // namespace kvbudget
