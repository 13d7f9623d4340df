// KServe's LLMInferenceService and LLMInferenceServiceConfig.
//
// A service names a model and says how many GPUs work on it; what the controller starts comes from
// presets (config/llmisvcconfig) that the service's pod templates are merged over. Without a
// command of its own a container runs the preset's `vllm serve`: the model, the parallel sizes,
// LoRA adapters, then $VLLM_ADDITIONAL_ARGS and the container's args, both through `eval`. Leader
// and workers of a role are one engine. Sources: kserve, August 2026 (0.16 and later),
// pkg/apis/serving/v1alpha2, pkg/controller/v1alpha2/llmisvc (config_merge.go, workload_lora.go).

#include <algorithm>
#include <array>
#include <string>

#include "lint/read/flag_words.h"
#include "lint/read/invocation.h"
#include "lint/read/kserve_model.h"
#include "lint/read/kubernetes_pod.h"
#include "lint/read/manifest.h"
#include "lint/read/readers.h"
#include "lint/read/strategic_merge.h"

namespace kvbudget {
namespace {

constexpr std::string_view kArguments = "VLLM_ADDITIONAL_ARGS";

// What the presets of one machine, of data parallel and of pipeline parallel groups pass on.
constexpr std::array<KeyFlag, 1> kSingle = {{{"tensor", "tensor-parallel-size"}}};
constexpr std::array<KeyFlag, 5> kDataParallel = {
    {{"tensor", "tensor-parallel-size"},
     {"data", "data-parallel-size"},
     {"dataLocal", "data-parallel-size-local"},
     {"dataRPCPort", "data-parallel-rpc-port"},
     {"expert", "enable-expert-parallel", KeyForm::kSwitch}}};
constexpr std::array<KeyFlag, 3> kPipelineParallel = {{{"tensor", "tensor-parallel-size"},
                                                       {"pipeline", "pipeline-parallel-size"},
                                                       {"pipeline", "nnodes"}}};
constexpr std::array<KeyFlag, 3> kLora = {{{"maxRank", "max-lora-rank"},
                                           {"maxAdapters", "max-loras"},
                                           {"maxCpuAdapters", "max-cpu-loras"}}};

bool is_of_kserve(const Node& root, std::string_view kind) {
  return is_object(root, kind, "serving.kserve.io/");
}

bool is_positive(const Node* number) {
  const auto value = number_of(number);
  return value && value->value > 0;
}

/// `main` of a pod template, or its only container.
const Node* main_container(const Node* pod) {
  const Node* list = pod == nullptr ? nullptr : pod->find("containers");
  if (list == nullptr || list->items.empty()) return nullptr;
  if (const Node* main = item_named(list, "main")) return main;
  return list->items.size() == 1 ? list->items.front().get() : nullptr;
}

class Service {
 public:
  Service(const YamlFile& yaml, const Node& root, FileContents& out)
      : yaml_(yaml), root_(root), configs_(yaml), out_(out) {
    const Entry* spec = root.find_entry("spec");
    spec_ = spec == nullptr ? nullptr : merged_with_bases(spec->value);
  }

  /// `needs_command`: what is no service of its own counts only if it says what runs.
  void read(bool needs_command) {
    if (spec_ == nullptr) return;
    needs_command_ = needs_command;
    read_role(*spec_, "");
    if (const Node* prefill = spec_->find("prefill"); prefill != nullptr && prefill->is_mapping()) {
      read_role(*prefill, "/prefill");
    }
  }

 private:
  NodePtr merged_with_bases(const NodePtr& own) {
    const Node* refs = own->find("baseRefs");
    NodePtr result;
    for (const NodePtr& ref : refs == nullptr ? std::vector<NodePtr>() : refs->items) {
      const Node* name = ref->find("name");
      if (name == nullptr || !yaml_.limit.spend(64 * yaml_.roots.size())) continue;
      if (const NodePtr base = find_config(name->scalar())) {
        result = merge_manifests(result, base, yaml_.limit);
      } else if (name->scalar().find("kserve-config-llm-") == std::string_view::npos) {
        unknown_base_ = name;  // the presets are known, other configs may set anything
      }
    }
    return merge_manifests(result, own, yaml_.limit);
  }

  NodePtr find_config(std::string_view name) const {
    for (const NodePtr& root : yaml_.roots) {
      const Node* own = root->at({"metadata", "name"});
      const Entry* spec = root->find_entry("spec");
      if (own == nullptr || own->scalar() != name || spec == nullptr) continue;
      if (is_of_kserve(*root, "LLMInferenceServiceConfig")) return spec->value;
    }
    return nullptr;
  }

  void read_role(const Node& workload, std::string_view role) {
    const Node* pod = workload.find("template");
    if (main_container(pod) == nullptr && workload.find("worker") != nullptr) {
      pod = workload.find("worker");
    }
    const Node* container = main_container(pod);
    EngineStart base = start_of(workload, role);
    const Node* command = container == nullptr ? nullptr : container->find("command");
    if (command != nullptr && command->kind != Node::Kind::kNull) {
      const size_t before = out_.starts.size();
      read_container(*container, *pod, configs_, base, out_);
      const Node* uri = model_uri();
      for (size_t i = before; uri != nullptr && i < out_.starts.size(); ++i) {
        name_mounted_model(*uri, out_.starts[i].argv);
      }
    } else if (!needs_command_ || model_uri() != nullptr) {
      add_preset_start(workload, pod, container, std::move(base));
    }
  }

  EngineStart start_of(const Node& workload, std::string_view role) const {
    EngineStart start = object_start(yaml_, root_, "kserve");
    start.name += role;
    start.replicas = number_of(workload.find("replicas"));
    if (!start.replicas) start.replicas = number_of(workload.at({"scaling", "minReplicas"}));
    start.serves_traffic = !needs_command_ && (!start.replicas || start.replicas->value > 0);
    start.nodes = nodes_of(workload);
    return start;
  }

  static std::optional<Located<uint32_t>> nodes_of(const Node& workload) {
    const Node* parallel = workload.find("parallelism");
    if (parallel == nullptr || workload.find("worker") == nullptr) return std::nullopt;
    const auto data = number_of(parallel->find("data"));
    const auto local = number_of(parallel->find("dataLocal"));
    if (!data && !local) return number_of(parallel->find("pipeline"));
    if (!data) return std::nullopt;
    const uint32_t each = std::max(1U, local ? local->value : 1U);
    return Located<uint32_t>{std::max(1U, data->value / each), data->where};
  }

  const Node* model_uri() const {
    const Node* uri = spec_->at({"model", "uri"});
    return uri != nullptr && uri->is_scalar() ? uri : nullptr;
  }

  void add_preset_start(const Node& workload, const Node* pod, const Node* container,
                        EngineStart start) {
    if (container != nullptr) {
      describe_container(*container, *pod, configs_, start);
      start.where = container->where;
    }
    if (const Node* uri = model_uri()) start.argv.push_back(mounted_model(*uri));
    add_served_name(start.argv);
    add_parallelism(workload, start.argv);
    add_lora(start.argv);
    add_arguments(container, start);
    if (unknown_base_ != nullptr) start.argv.push_back({unknown_base_->text, false});
    out_.starts.push_back(std::move(start));
  }

  void add_served_name(std::vector<Word>& argv) const {
    const Node* model = spec_->find("model");
    const Entry* name = model == nullptr ? nullptr : model->find_entry("name");
    if (name == nullptr && root_.find("metadata") != nullptr) {
      name = root_.find("metadata")->find_entry("name");
    }
    if (name != nullptr) add_flag(*name, "served-model-name", KeyForm::kValue, argv);
  }

  static void add_parallelism(const Node& workload, std::vector<Word>& argv) {
    const Node* parallel = workload.find("parallelism");
    if (parallel == nullptr) return;
    if (workload.find("worker") == nullptr) return add_flags(parallel, kSingle, argv);
    const bool data =
        is_positive(parallel->find("data")) || is_positive(parallel->find("dataLocal"));
    data ? add_flags(parallel, kDataParallel, argv) : add_flags(parallel, kPipelineParallel, argv);
  }

  void add_lora(std::vector<Word>& argv) const {
    const Node* lora = spec_->at({"model", "lora"});
    const Entry* adapters = lora == nullptr ? nullptr : lora->find_entry("adapters");
    if (adapters == nullptr || adapters->value->items.empty()) return;
    argv.push_back(word_over("--enable-lora", adapters->key));
    add_flags(lora, kLora, argv);
    argv.push_back(word_over("--lora-modules", adapters->key));
    for (const NodePtr& adapter : adapters->value->items) {
      const Node* name = adapter->find("name");
      if (name == nullptr || !name->is_scalar()) continue;
      const std::string text(name->scalar());
      argv.push_back(
          word_over(R"({"name":")" + text + R"(","path":"/mnt/lora/)" + text + "\"}", name->text));
    }
  }

  /// $VLLM_ADDITIONAL_ARGS and the args, as the preset's `eval` sees them.
  static void add_arguments(const Node* container, EngineStart& start) {
    if (container == nullptr) return;
    SourceText script =
        SourceText::empty_at(start.file, {start.where.range.begin, start.where.range.begin});
    script.append_synthetic("vllm serve model", start.where.range.begin);
    ShellScope scope;
    for (const EnvVar& variable : start.env) {
      scope.inherit(variable);
      if (variable.name.view() != kArguments) continue;
      if (variable.value.empty() && !variable.known) start.argv.push_back({variable.name, false});
      append_words(variable.value, script);
    }
    const Node* args = container->find("args");
    for (const NodePtr& item : args == nullptr ? std::vector<NodePtr>() : args->items) {
      if (item->is_scalar() && item->scalar() != "--") {
        append_words(expand_references(word_of(*item), start.env).text, script);
      }
    }
    const std::vector<Invocation> found = find_invocations_in_script(script, std::move(scope));
    if (found.empty()) return;
    const std::vector<Word>& words = found.front().argv;
    start.argv.insert(start.argv.end(), words.begin() + 1, words.end());
  }

  static void append_words(const SourceText& words, SourceText& script) {
    script.append_synthetic(" ", words.offset(0));
    script.append(words);
  }

  const YamlFile& yaml_;
  const Node& root_;
  ConfigMaps configs_;
  FileContents& out_;
  NodePtr spec_;
  const Node* unknown_base_ = nullptr;
  bool needs_command_ = false;
};

/// Some service of the file refers to the config, which is read together with it then.
bool is_base_in_file(const YamlFile& yaml, const Node& config) {
  const Node* name = config.at({"metadata", "name"});
  if (name == nullptr || !yaml.limit.spend(64 * yaml.roots.size())) return false;
  return std::any_of(yaml.roots.begin(), yaml.roots.end(), [&](const NodePtr& root) {
    const Node* refs = root->at({"spec", "baseRefs"});
    if (refs == nullptr || !is_of_kserve(*root, "LLMInferenceService")) return false;
    return std::any_of(refs->items.begin(), refs->items.end(), [&](const NodePtr& ref) {
      const Node* own = ref->find("name");
      return own != nullptr && own->scalar() == name->scalar();
    });
  });
}

}  // namespace

bool read_llm_inference_service(const YamlFile& yaml, const Node& root, FileContents& out) {
  const bool config = is_of_kserve(root, "LLMInferenceServiceConfig");
  if (!config && !is_of_kserve(root, "LLMInferenceService")) return false;
  if (!yaml.limit.spend_on(root) || (config && is_base_in_file(yaml, root))) return true;
  Service(yaml, root, out).read(config);
  return true;
}

}  // namespace kvbudget
