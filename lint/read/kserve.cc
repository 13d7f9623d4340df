// KServe: ServingRuntime, ClusterServingRuntime and InferenceService.
//
// A runtime holds the container; a service names the runtime and the weights, and its arguments
// come behind those of the runtime. Where a file holds both they are one engine, otherwise each is
// read as far as it goes: a service whose runtime is elsewhere is one of vLLM by its model format,
// the runtime's name or its arguments. Workers of several machines run what the head runs. Sources:
// kserve, August 2026 (0.15 and later), pkg/apis/serving, pkg/controller/v1beta1/inferenceservice
// (MergeRuntimeContainers, multi-node environment); odh-model-controller config/runtimes/vllm.

#include <algorithm>
#include <array>
#include <string>

#include "lint/read/flag_words.h"
#include "lint/read/kserve_arguments.h"
#include "lint/read/kserve_model.h"
#include "lint/read/kubernetes_pod.h"
#include "lint/read/manifest.h"
#include "lint/read/readers.h"
#include "lint/read/strategic_merge.h"
#include "lint/read/vllm_names.h"

namespace kvbudget {
namespace {

// What the multi-node runtimes are told of a service's `workerSpec`.
struct WorkerSize {
  std::string_view key;
  std::string_view variable;
};
constexpr std::array<WorkerSize, 2> kWorkerSizes = {
    {{"tensorParallelSize", "TENSOR_PARALLEL_SIZE"},
     {"pipelineParallelSize", "PIPELINE_PARALLEL_SIZE"}}};
constexpr std::array<KeyFlag, 2> kWorkerFlags = {
    {{"tensorParallelSize", "tensor-parallel-size"},
     {"pipelineParallelSize", "pipeline-parallel-size"}}};

bool is_of_kserve(const Node& root) {
  const Node* version = root.find("apiVersion");
  return version != nullptr && version->scalar().starts_with("serving.kserve.io/");
}

bool is_runtime(const Node& root) {
  return is_of_kserve(root) &&
         (is_kind(root, "ServingRuntime") || is_kind(root, "ClusterServingRuntime"));
}

/// The runtime that a service asks for.
std::string_view runtime_of(const Node& root) {
  const Node* name = root.at({"spec", "predictor", "model", "runtime"});
  return name == nullptr ? std::string_view() : name->scalar();
}

NodePtr member(const Node& mapping, std::string_view key) {
  const Entry* entry = mapping.find_entry(key);
  return entry == nullptr ? nullptr : entry->value;
}

EngineStart start_of(const YamlFile& yaml, const Node& root) {
  EngineStart start = object_start(yaml, root, "kserve");
  const Node* annotations = root.at({"metadata", "annotations"});
  const Node* version =
      annotations == nullptr ? nullptr : annotations->find("opendatahub.io/runtime-version");
  if (version != nullptr && version->is_scalar()) start.version = version->text;
  return start;
}

/// Sizes of a group of machines, as its containers see them.
void add_worker_sizes(const Node* workers, EngineStart& start) {
  if (workers == nullptr || !workers->is_mapping()) return;
  start.nodes = number_of(workers->find("pipelineParallelSize"));
  for (const WorkerSize& size : kWorkerSizes) {
    const Entry* entry = workers->find_entry(size.key);
    if (entry == nullptr || !entry->value->is_scalar()) continue;
    start.env.push_back({word_over(size.variable, entry->key).text, entry->value->text, true});
  }
}

/// A runtime's container under a service's `model`: arguments add up, all else is merged.
NodePtr merged_container(const NodePtr& container, const NodePtr& model, WorkLimit& limit) {
  const NodePtr merged = merge_manifests(container, model, limit);
  const NodePtr front = member(*container, "args");
  const NodePtr behind = member(*model, "args");
  if (front == nullptr || behind == nullptr) return merged;
  auto args = std::make_shared<Node>(*front);
  args->items.insert(args->items.end(), behind->items.begin(), behind->items.end());
  auto result = std::make_shared<Node>(*merged);
  for (Entry& entry : result->entries) {
    if (entry.key.view() == "args") entry.value = args;
  }
  return result;
}

class InferenceService {
 public:
  InferenceService(const YamlFile& yaml, const Node& root, FileContents& out)
      : yaml_(yaml), root_(root), configs_(yaml), out_(out), start_(start_of(yaml, root)) {}

  void read() {
    const Node* predictor = root_.at({"spec", "predictor"});
    if (predictor == nullptr || !predictor->is_mapping()) return;
    start_.replicas = number_of(predictor->find("minReplicas"));
    start_.serves_traffic = !start_.replicas || start_.replicas->value > 0;
    add_worker_sizes(predictor->find("workerSpec"), start_);
    if (const Node* list = predictor->find("containers"); list != nullptr && list->is_sequence()) {
      return read_pod(*predictor, configs_, start_, out_);
    }
    NodePtr model = member(*predictor, "model");
    if (model == nullptr) model = member(*predictor, "huggingface");  // before `model` existed
    if (model == nullptr || !model->is_mapping()) return;
    if (const NodePtr runtime = find_runtime())
      return read_with_runtime(*predictor, model, runtime);
    read_alone(*predictor, *model);
  }

 private:
  NodePtr find_runtime() const {
    const std::string_view name = runtime_of(root_);
    if (name.empty() || !yaml_.limit.spend(64 * yaml_.roots.size())) return nullptr;
    for (const NodePtr& root : yaml_.roots) {
      const Node* own = root->at({"metadata", "name"});
      if (own != nullptr && own->scalar() == name && is_runtime(*root)) return root;
    }
    return nullptr;
  }

  void read_with_runtime(const Node& predictor, const NodePtr& model, const NodePtr& runtime) {
    const Node* list = runtime->at({"spec", "containers"});
    if (list == nullptr || list->items.empty()) return;
    if (!start_.version) start_.version = start_of(yaml_, *runtime).version;
    if (start_.nodes == std::nullopt) add_worker_sizes(runtime->at({"spec", "workerSpec"}), start_);
    const NodePtr container = merged_container(list->items.front(), model, yaml_.limit);
    const size_t before = out_.starts.size();
    read_container(*container, predictor, configs_, start_, out_);
    for (size_t i = before; i < out_.starts.size(); ++i) name_model(*model, out_.starts[i].argv);
  }

  static void name_model(const Node& model, std::vector<Word>& argv) {
    const Node* uri = model.find("storageUri");
    if (uri != nullptr && uri->is_scalar()) name_mounted_model(*uri, argv);
  }

  static const Node* weights_of(const Node& model) {
    const std::array<const Node*, 3> places = {
        model.find("storageUri"), model.at({"storage", "path"}), model.at({"storage", "key"})};
    for (const Node* place : places) {
      if (place != nullptr && place->is_scalar()) return place;
    }
    return nullptr;
  }

  /// The service alone says what its runtime would be told.
  void read_alone(const Node& predictor, const Node& model) {
    EngineStart start = start_;
    describe_container(model, predictor, configs_, start);
    std::vector<Word> args = arguments_of(model, start.env);
    const Node* format = model.at({"modelFormat", "name"});
    const bool vllm =
        contains_vllm(runtime_of(root_)) || (format != nullptr && contains_vllm(format->scalar()));
    const bool other = format != nullptr && format->scalar() != "huggingface" && !vllm;
    if (other || choose_other_backend(args)) return;
    if (!vllm && !look_like_vllm_arguments(args) && !start.gpu.count) return;
    start.serve = false;
    if (const Node* uri = weights_of(model)) {
      start.argv.push_back(word_over("--model", uri->text));
      start.argv.push_back(mounted_model(*uri));
    }
    add_flags(predictor.find("workerSpec"), kWorkerFlags, start.argv);
    start.where = args.empty() ? model.where : args.front().text.location();
    const std::vector<Word> own = without_server_flags(args);
    start.argv.insert(start.argv.end(), own.begin(), own.end());
    out_.starts.push_back(std::move(start));
  }

  static std::vector<Word> arguments_of(const Node& model, const std::vector<EnvVar>& env) {
    std::vector<Word> words;
    const Node* args = model.find("args");
    if (args == nullptr) return words;
    for (const NodePtr& item : args->items) {
      if (item->is_scalar()) words.push_back(expand_references(word_of(*item), env));
    }
    return words;
  }

  const YamlFile& yaml_;
  const Node& root_;
  ConfigMaps configs_;
  FileContents& out_;
  EngineStart start_;
};

void read_runtime(const YamlFile& yaml, const Node& root, FileContents& out) {
  const Node* spec = root.find("spec");
  const Node* list = spec == nullptr ? nullptr : spec->find("containers");
  if (list == nullptr || !list->is_sequence()) return;
  EngineStart start = start_of(yaml, root);
  add_worker_sizes(spec->find("workerSpec"), start);
  read_pod(*spec, ConfigMaps(yaml), start, out);
}

/// A service of the file asks for the runtime and is read together with it.
bool is_used_in_file(const YamlFile& yaml, const Node& runtime) {
  const Node* name = runtime.at({"metadata", "name"});
  if (name == nullptr || !yaml.limit.spend(64 * yaml.roots.size())) return false;
  return std::any_of(yaml.roots.begin(), yaml.roots.end(), [&](const NodePtr& root) {
    return is_kind(*root, "InferenceService") && runtime_of(*root) == name->scalar();
  });
}

}  // namespace

bool read_kserve(const YamlFile& yaml, const Node& root, FileContents& out) {
  if (!is_of_kserve(root)) return false;
  const bool service = is_kind(root, "InferenceService");
  if (!service && !is_runtime(root)) return false;
  if (!yaml.limit.spend_on(root)) return true;
  if (service) {
    InferenceService(yaml, root, out).read();
  } else if (!is_used_in_file(yaml, root)) {
    read_runtime(yaml, root, out);
  }
  return true;
}

}  // namespace kvbudget
