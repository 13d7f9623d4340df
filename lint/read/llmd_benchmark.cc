// Scenarios of llm-d-benchmark (config/scenarios; meaning of the keys: config/templates/jinja/
// _macros.j2 and config/templates/values/defaults.yaml, 2026-08). A stack deploys prefill and
// decode pods (`modelservice`) or one server (`standalone`), whose sections stand in the stack, in
// its `common` or in its `modelservice`. A `customCommand` is shell text that sees the settings as
// variables; without one the command is made of the settings. The tool's own defaults are not in
// the file and stay unknown.

#include <algorithm>
#include <array>
#include <string>

#include "lint/read/config_keys.h"
#include "lint/read/container.h"
#include "lint/read/flag_words.h"
#include "lint/read/kubernetes_pod.h"
#include "lint/read/readers.h"
#include "lint/read/shell_words.h"
#include "lint/read/vllm_names.h"

namespace kvbudget {
namespace {

/// A setting, the variable that shows it to the command, and the flag that the tool makes of it.
struct Knob {
  std::string_view variable;
  std::string_view section;  ///< of the stack, or of the pod if that has it
  std::string_view key;
  std::string_view common;  ///< the key in `vllmCommon` that stands in for it
  std::string_view flag;
};
constexpr std::array kKnobs = {
    Knob{"MODEL_NAME", "model", "name", "", "served-model-name"},
    Knob{"MODEL_PATH", "model", "path", "", ""},
    Knob{"VLLM_BLOCK_SIZE", "model", "blockSize", "blockSize", "block-size"},
    Knob{"VLLM_MAX_MODEL_LEN", "model", "maxModelLen", "maxModelLen", "max-model-len"},
    Knob{"VLLM_MAX_NUM_SEQ", "model", "maxNumSeq", "maxNumSeq", ""},
    Knob{"VLLM_MAX_NUM_BATCHED_TOKENS", "model", "maxNumBatchedTokens", "maxNumBatchedTokens", ""},
    Knob{"VLLM_ACCELERATOR_MEM_UTIL", "model", "gpuMemoryUtilization", "gpuMemoryUtilization",
         "gpu-memory-utilization"},
    Knob{"VLLM_LOAD_FORMAT", "", "", "loadFormat", ""},
    Knob{"VLLM_INFERENCE_PORT", "vllm", "servicePort", "inferencePort", ""},
    Knob{"VLLM_METRICS_PORT", "vllm", "port", "vllmPort", ""},
    Knob{"VLLM_TENSOR_PARALLELISM", "parallelism", "tensor", "", "tensor-parallel-size"},
    Knob{"TP_SIZE", "parallelism", "tensor", "", ""},
    Knob{"DP_SIZE", "parallelism", "data", "", ""},
    Knob{"DP_SIZE_LOCAL", "parallelism", "dataLocal", "", ""},
    Knob{"LWS_GROUP_SIZE", "parallelism", "workers", "", ""},
};

constexpr std::array kCommonFlags = {
    KeyFlag{"enforceEager", "enforce-eager", KeyForm::kSwitch},
    KeyFlag{"disableLogRequests", "no-enable-log-requests", KeyForm::kSwitch},
    KeyFlag{"disableUvicornAccessLog", "disable-uvicorn-access-log", KeyForm::kSwitch},
    KeyFlag{"noPrefixCaching", "no-enable-prefix-caching", KeyForm::kSwitch},
    KeyFlag{"enablePrefixCaching", "enable-prefix-caching", KeyForm::kSwitch},
    KeyFlag{"chatTemplate", "chat-template"},
    KeyFlag{"chatTemplateContentFormat", "chat-template-content-format"},
};

bool is_number(const Node* node, uint32_t value) {
  const auto number = number_of(node);
  return number && number->value == value;
}

class Stack {
 public:
  Stack(const YamlFile& yaml, const Node& stack, FileContents& out)
      : yaml_(yaml), configs_(yaml), stack_(stack), out_(out) {}

  void read() {
    if (is_on({"kustomize", "enabled"}, false)) return;  // the guide's own manifests are deployed
    const size_t before = out_.starts.size();
    if (is_on({"standalone", "enabled"}, false)) read_pods("standalone");
    if (is_on({"modelservice", "enabled"}, true)) {
      if (is_on({"decode", "enabled"}, true)) read_pods("decode");
      if (is_on({"prefill", "enabled"}, false)) read_pods("prefill");
    }
    std::sort(out_.starts.begin() + static_cast<std::ptrdiff_t>(before), out_.starts.end(),
              [](const EngineStart& a, const EngineStart& b) {
                return a.where.range.begin < b.where.range.begin;
              });
  }

 private:
  const Entry* section(std::string_view name) const {
    for (const Node* holder : {&stack_, stack_.find("modelservice"), stack_.find("common")}) {
      const Entry* entry = holder == nullptr ? nullptr : holder->find_entry(name);
      if (entry != nullptr && entry->value->is_mapping()) return entry;
    }
    return nullptr;
  }

  const Entry* setting(std::string_view part, std::string_view key) const {
    const Entry* entry = section(part);
    return entry == nullptr ? nullptr : entry->value->find_entry(key);
  }

  bool is_on(std::pair<std::string_view, std::string_view> place, bool otherwise) const {
    const Entry* entry = setting(place.first, place.second);
    return entry == nullptr ? otherwise : truth_of(entry->value.get()).value_or(false);
  }

  /// The entry that decides a knob for the pods of `role`; `known` is false when the pods differ.
  const Entry* entry_of(const Knob& knob, const Node& role, bool& known) const {
    known = true;
    const Node* variants = knob.section == "model" ? role.find("vllmVariants") : nullptr;
    if (variants != nullptr && !variants->items.empty()) {
      const Entry* first = variants->items.front()->find_entry(knob.key);
      if (first != nullptr) {
        known = std::all_of(variants->items.begin(), variants->items.end(), [&](const auto& item) {
          const Node* other = item->find(knob.key);
          return other != nullptr && other->scalar() == first->value->scalar();
        });
        return first;
      }
    }
    const Node* own = role.find(knob.section);
    const Entry* entry = own == nullptr ? nullptr : own->find_entry(knob.key);
    if (entry == nullptr) entry = setting(knob.section, knob.key);
    if (entry == nullptr && !knob.common.empty()) entry = setting("vllmCommon", knob.common);
    return entry != nullptr && entry->value->is_scalar() ? entry : nullptr;
  }

  void read_pods(std::string_view name) {
    const Entry* entry = section(name);
    static const Node kNothing;
    const Node& role = entry == nullptr ? kNothing : *entry->value;
    EngineStart start;
    start.file = &yaml_.file;
    start.kind = "llm-d-benchmark";
    const Node* stack_name = stack_.find("name");
    start.name = (stack_name == nullptr ? "" : stack_name->text.str() + "/") + std::string(name);
    start.where = (entry == nullptr ? stack_.entries.front() : *entry).key.location();
    start.replicas = number_of(role.find("replicas"));
    if (start.replicas && start.replicas->value == 0) return;
    if (!start.replicas && name == "prefill") return;  // none unless the scenario wants some
    start.serves_traffic = true;
    if (const Node* list = role.find("extraEnvVars")) {
      add_variable_list(*list, configs_, start.env);
    }
    read_image(name == "standalone" ? "vllmOpenai" : "vllm", start);
    read_gpus(role, start);
    const Node* command = role.at({"vllm", "customCommand"});
    command != nullptr && command->is_scalar() ? run_command(role, *command, start)
                                               : make_command(role, std::move(start));
  }

  void read_image(std::string_view name, EngineStart& start) {
    const Entry* image = setting("images", name);
    const Node* repository = image == nullptr ? nullptr : image->value->find("repository");
    const Node* tag = image == nullptr ? nullptr : image->value->find("tag");
    if (repository == nullptr || repository->scalar().empty() || tag == nullptr) return;
    start.image = repository->text;
    start.image->append_synthetic(":", repository->text.offset(0));
    start.image->append(tag->text);
    start.image_known =
        tag->scalar() != "auto" && word_of(*repository).known && word_of(*tag).known;
  }

  void read_gpus(const Node& role, EngineStart& start) {
    const auto of_accelerator = [&](std::string_view key) -> const Node* {
      const Node* own = role.find("accelerator");
      const Node* value = own == nullptr ? nullptr : own->find(key);
      if (value != nullptr) return value;
      const Entry* entry = setting("accelerator", key);
      return entry == nullptr ? nullptr : entry->value.get();
    };
    const Node* type = of_accelerator("type");
    const bool other = type != nullptr && type->scalar() != "nvidia" && type->scalar() != "amd";
    if (other || is_number(of_accelerator("count"), 0)) return;
    read_gpu_name(role, start.gpu);
    const Node* parallelism = role.find("parallelism");
    start.gpu.count = number_of(of_accelerator("count"));
    if (!start.gpu.count && parallelism != nullptr) start.gpu.count = gpus_of(*parallelism);
    const auto workers =
        parallelism == nullptr ? std::nullopt : number_of(parallelism->find("workers"));
    const bool joined = is_on({"multinode", "enabled"}, false);
    if (joined && workers && workers->value > 1) start.nodes = workers;
  }

  void read_gpu_name(const Node& role, GpuRequest& gpu) const {
    const Node* type = role.find("acceleratorType");
    const Entry* shared = section("acceleratorType");
    if (type == nullptr && shared != nullptr) type = shared->value.get();
    const Node* label = type == nullptr ? nullptr : type->find("labelKey");
    const Node* value = type == nullptr ? nullptr : type->find("labelValue");
    if (label != nullptr && value != nullptr && is_gpu_label(label->scalar()) &&
        value->scalar() != "auto") {
      gpu.name = {std::string(value->scalar()), value->where};
      return;
    }
    const Entry* selector = setting("affinity", "nodeSelector");
    if (selector == nullptr || !is_on({"affinity", "enabled"}, false)) return;
    for (const Entry& entry : selector->value->entries) {
      if (!is_gpu_label(entry.key.view()) || gpu.name) continue;
      gpu.name = {std::string(entry.value->scalar()), entry.value->where};
    }
  }

  static std::optional<Located<uint32_t>> gpus_of(const Node& parallelism) {
    const auto tensor = number_of(parallelism.find("tensor"));
    const auto local = number_of(parallelism.find("dataLocal"));
    if (!tensor || tensor->value > 4096 || (local && local->value > 4096)) return std::nullopt;
    if (!local) return tensor;
    return Located<uint32_t>{tensor->value * local->value,
                             local->value == 1 ? tensor->where : local->where};
  }

  ShellScope scope_for(const Node& role) const {
    ShellScope scope;
    for (const Knob& knob : kKnobs) {
      bool known = true;
      const Entry* entry = entry_of(knob, role, known);
      if (entry == nullptr) continue;
      scope.inherit({SourceText(std::string(knob.variable)), entry->value->text,
                     known && word_of(*entry->value).known});
    }
    return scope;
  }

  void run_command(const Node& role, const Node& command, const EngineStart& start) {
    const size_t before = out_.starts.size();
    add_script_starts(command.text, scope_for(role), start, out_);
    if (out_.starts.size() > before) return;
    // A script of the image that passes its arguments on.
    ShellScope scope = scope_for(role);
    for (const EnvVar& variable : start.env) scope.inherit(variable);
    read_shell(command.text, scope, [&](const ShellCommand& shell, ShellScope&) {
      if (shell.words.size() < 2 || out_.starts.size() > before) return;
      const std::vector<Word> arguments(shell.words.begin() + 1, shell.words.end());
      if (!look_like_vllm_arguments(arguments)) return;
      EngineStart& found = out_.starts.emplace_back(start);
      found.where = shell.words.front().text.location();
      found.serve = false;
      found.argv = arguments;
    });
  }

  void make_command(const Node& role, EngineStart start) {
    if (!add_model(start)) return;
    for (const Knob& knob : kKnobs) {
      bool known = true;
      const Entry* entry = knob.flag.empty() ? nullptr : entry_of(knob, role, known);
      if (entry == nullptr || entry->value->scalar() == "0") continue;
      add_flag(*entry, knob.flag, KeyForm::kValue, start.argv);
      start.argv.back().known = start.argv.back().known && known;
    }
    if (const Entry* flags = setting("vllmCommon", "flags")) {
      add_flags(flags->value.get(), kCommonFlags, start.argv);
    }
    if (const Node* extra = role.at({"vllm", "additionalFlags"})) {
      for (const NodePtr& item : extra->items) {
        for (Word& word : split_words(word_of(*item))) start.argv.push_back(std::move(word));
      }
    }
    out_.starts.push_back(std::move(start));
  }

  /// The folder in the cache, if the file says where the cache is, or the model's name.
  bool add_model(EngineStart& start) {
    const Entry* base = setting("model", "cacheBase");
    const Entry* path = setting("model", "path");
    if (base != nullptr && path != nullptr) {
      Word word = word_of(*base->value);
      word.text.append_synthetic("/", word.text.offset(0));
      word.text.append(path->value->text);
      start.argv.push_back(std::move(word));
      return true;
    }
    const Entry* name = setting("model", "huggingfaceId");
    if (name == nullptr) name = setting("model", "name");
    if (name == nullptr) return false;
    start.argv.push_back(word_of(*name->value));
    return true;
  }

  const YamlFile& yaml_;
  ConfigMaps configs_;
  const Node& stack_;
  FileContents& out_;
};

}  // namespace

bool read_llmd_benchmark(const YamlFile& yaml, const Node& root, FileContents& out) {
  const Node* stacks = root.find("scenario");
  if (stacks == nullptr || !stacks->is_sequence() || !yaml.limit.spend_on(root)) return false;
  const size_t before = out.starts.size();
  for (const NodePtr& stack : stacks->items) {
    if (stack->is_mapping() && !stack->entries.empty()) Stack(yaml, *stack, out).read();
  }
  return out.starts.size() > before;
}

}  // namespace kvbudget
