// Names of keys: those that the values of some 40 public charts use (2024 to 2026); charts agree on
// nothing but vLLM's own option names, in one spelling or another.

#include "lint/read/chart_scope.h"

#include <algorithm>
#include <array>

#include "lint/read/container.h"
#include "lint/read/kubernetes_pod.h"
#include "lint/read/vllm_names.h"

namespace kvbudget {
namespace {

template <size_t N>
bool is_one_of(std::string_view word, const std::array<std::string_view, N>& words) {
  return std::find(words.begin(), words.end(), word) != words.end();
}

bool is_upper(char c) { return c >= 'A' && c <= 'Z'; }
bool is_lower_or_digit(char c) { return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9'); }

/// "max-model-len" of `maxModelLen`, `max_model_len` and `MAX_MODEL_LEN`.
std::string dashed_key(std::string_view key) {
  std::string result;
  for (size_t i = 0; i < key.size(); ++i) {
    const char c = key[i];
    const bool hump = is_upper(c) && i > 0 && is_lower_or_digit(key[i - 1]);
    if (hump) result += '-';
    if (c == '_' || c == '.') {
      result += '-';
    } else {
      result += is_upper(c) ? static_cast<char>(c - 'A' + 'a') : c;
    }
  }
  return result;
}

bool has_humps(std::string_view key) { return std::any_of(key.begin(), key.end(), is_upper); }

struct Spelling {
  std::string_view key;
  std::string_view option;
};
constexpr std::array kSpellings = {
    Spelling{"tensor-parallel", "tensor-parallel-size"},
    Spelling{"tensor-parallelism", "tensor-parallel-size"},
    Spelling{"pipeline-parallel", "pipeline-parallel-size"},
    Spelling{"pipeline-parallelism", "pipeline-parallel-size"},
    Spelling{"max-model-length", "max-model-len"},
    Spelling{"enable-lo-ra", "enable-lora"},
    Spelling{"max-lo-ras", "max-loras"},
};

// Other programs and the pod itself have options of these names.
constexpr std::array<std::string_view, 8> kNotByKey = {"runner", "host",   "port", "config",
                                                       "model",  "device", "task", "seed"};

std::string option_of(std::string_view key) {
  std::string name = dashed_key(key);
  for (const Spelling& spelling : kSpellings) {
    if (spelling.key == name) name = spelling.option;
  }
  return is_vllm_option(name) && !is_one_of(name, kNotByKey) ? name : std::string();
}

constexpr std::array<std::string_view, 17> kModelKeys = {
    "model",        "modelname",      "modelid",     "modelurl",  "modelpath",
    "modelrepo",    "modeluri",       "hfmodel",     "hfmodelid", "llmmodelid",
    "llmmodel",     "huggingfaceid",  "hfmodelname", "modelhfid", "huggingfacemodel",
    "modeltoserve", "huggingfacename"};
// … under `model`.
constexpr std::array<std::string_view, 13> kModelMembers = {
    "name",           "id",     "repo",   "path",
    "repository",     "uri",    "url",    "hfid",
    "hfname",         "hfrepo", "source", "huggingfacename",
    "huggingfacerepo"};
constexpr std::array<std::string_view, 8> kGpuCountKeys = {
    "gpucount", "numgpus", "gpus", "numgpu", "gpurequestcount", "requestgpu", "ngpus", "gpu"};
constexpr std::array<std::string_view, 5> kGpuNameKeys = {"gputype", "gpumodel", "gpuname",
                                                          "gpuproduct", "acceleratortype"};
// Mappings that hold settings of the engine that the mapping around them is about.
constexpr std::array<std::string_view, 9> kParts = {"model",       "config",     "parameters",
                                                    "engine",      "vllmconfig", "engineconfig",
                                                    "modelconfig", "server",     "gpu"};
constexpr std::array<std::string_view, 6> kEnvKeys = {"env",         "extraenv",     "envvars",
                                                      "environment", "extraenvvars", "envs"};

bool holds_arguments(const std::string& plain) {
  static constexpr std::array<std::string_view, 4> kFlags = {"flags", "vllmflags", "extraflags",
                                                             "serverflags"};
  const bool words = plain.ends_with("args") && !plain.ends_with("kwargs");
  return words || plain.ends_with("arguments") || is_one_of(plain, kFlags);
}

/// An id on the Hub, a path or an address; names without a slash are names of the service.
bool names_model(const Node& value) {
  if (!value.is_scalar() || value.text.empty()) return false;
  return !word_of(value).known || has_placeholder(value.scalar()) ||
         value.scalar().find('/') != std::string_view::npos;
}

class Collector {
 public:
  Collector(ChartScope& scope, bool whole) : scope_(scope), whole_(whole) {}

  void read(const Node& values, const std::string& owner, int depth) {
    const bool engine_keys = holds_engine_keys(values, owner);
    for (const Entry& entry : values.entries) read_entry(entry, owner, engine_keys, depth);
  }

 private:
  /// Names that other programs share (`dtype`, `quantization`) count beside vLLM's own or a model.
  static bool holds_engine_keys(const Node& values, const std::string& owner) {
    if (owner == "model") return true;
    return std::any_of(values.entries.begin(), values.entries.end(), [](const Entry& entry) {
      return is_distinctive_option(option_of(entry.key.view())) ||
             is_one_of(plain_key(entry.key.view()), kModelKeys);
    });
  }

  void read_entry(const Entry& entry, const std::string& owner, bool engine_keys, int depth) {
    const std::string plain = plain_key(entry.key.view());
    const Node& value = *entry.value;
    if (is_one_of(plain, kEnvKeys)) return read_environment(value);
    if (plain == "command" || holds_arguments(plain)) return read_arguments(entry, plain);
    if (value.is_mapping()) return read_mapping(entry, plain, depth);
    if (value.is_scalar() && !value.text.empty()) read_scalar(entry, plain, owner, engine_keys);
    if (value.is_sequence() && plain == "nodeselectorterms")
      scope_.affinity = affinity_of(entry.value);
  }

  void read_mapping(const Entry& entry, const std::string& plain, int depth) {
    const Node& value = *entry.value;
    if (plain == "resources") read_resources(entry.value);
    if (plain == "nodeselector") scope_.node_selector = entry.value;
    if (plain == "affinity") scope_.affinity = entry.value;
    if (plain == "pod" || plain == "defaultpodoptions") {
      if (NodePtr selector = share(&value, "nodeSelector")) scope_.node_selector = selector;
      if (NodePtr affinity = share(&value, "affinity")) scope_.affinity = affinity;
    }
    // `image.command` is of the chart that vLLM itself offers.
    if (plain == "image") {
      if (const Entry* command = value.find_entry("command")) read_arguments(*command, "command");
    }
    if (is_beside_engine(plain) || depth <= 0) return;
    if (!whole_ && !is_one_of(plain, kParts)) return;
    const bool apart = chart_image(value) != nullptr || is_false(value.find("enabled"));
    if (!apart) read(value, plain, depth - 1);
  }

  /// Besides the pod's own form some charts have `limits: {gpu: 1}` or `gpu: 1`.
  void read_resources(const NodePtr& resources) {
    scope_.resources = resources;
    for (const Node* list :
         {resources->find("limits"), resources->find("requests"), resources.get()}) {
      NodePtr gpus = share(list, "gpu");
      if (number_of(gpus.get()) && scope_.gpu_count == nullptr) scope_.gpu_count = gpus;
    }
  }

  void read_scalar(const Entry& entry, const std::string& plain, const std::string& owner,
                   bool engine_keys) {
    const bool model =
        is_one_of(plain, kModelKeys) || (owner == "model" && is_one_of(plain, kModelMembers));
    if (model && names_model(*entry.value)) return add_model(entry.value);
    if (plain == "replicacount" || plain == "replicas") {
      if (scope_.replicas == nullptr) scope_.replicas = entry.value;
    } else if (is_one_of(plain, kGpuCountKeys) || (owner == "gpu" && plain == "count")) {
      if (number_of(entry.value.get())) scope_.gpu_count = entry.value;
    } else if (is_one_of(plain, kGpuNameKeys) || (owner == "gpu" && plain == "type")) {
      scope_.gpu_name = entry.value;
    } else {
      add_option(entry, owner, engine_keys);
    }
  }

  void add_option(const Entry& entry, const std::string& owner, bool engine_keys) {
    std::string name = option_of(entry.key.view());
    if (name.empty() || (!engine_keys && !is_distinctive_option(name))) {
      name = option_of(owner + "-" + dashed_key(entry.key.view()));
    }
    if (is_foreign_option(dashed_key(entry.key.view()))) scope_.foreign = true;
    if (name.empty()) return;
    if (is_distinctive_option(name)) ++scope_.distinctive;
    const bool decides = truth_of(entry.value.get()).has_value();
    add_flag(entry, name, decides ? KeyForm::kSwitch : KeyForm::kValue, scope_.options);
  }

  void add_model(const NodePtr& value) {
    const auto same = [&](const NodePtr& other) { return other->scalar() == value->scalar(); };
    if (std::none_of(scope_.models.begin(), scope_.models.end(), same)) {
      scope_.models.push_back(value);
    }
  }

  void read_arguments(const Entry& entry, const std::string& plain) {
    const Node& value = *entry.value;
    if (value.is_mapping()) {  // `args: {max-model-len: 4096}`
      for (const Entry& flag : value.entries) {
        const bool decides = truth_of(flag.value.get()).has_value();
        std::string name = option_of(flag.key.view());
        if (is_foreign_option(dashed_key(flag.key.view()))) scope_.foreign = true;
        if (is_distinctive_option(name)) ++scope_.distinctive;
        // Flags that are not known here are told by their spelling; humps are the chart's own.
        if (name.empty() && !has_humps(flag.key.view())) name = dashed_key(flag.key.view());
        if (name.empty()) continue;
        add_flag(flag, name, decides ? KeyForm::kSwitch : KeyForm::kValue, scope_.options);
      }
    } else if (plain == "command" && value.is_sequence()) {
      scope_.command = value.items;
    } else {
      add_flag(entry, "", KeyForm::kWords, scope_.arguments);
    }
  }

  void read_environment(const Node& value) {
    scope_.env.insert(scope_.env.end(), value.items.begin(), value.items.end());
    for (const Entry& entry : value.entries) {
      if (!entry.value->is_scalar()) continue;
      scope_.env.push_back(map_of({{"name", scalar_of(entry.key)}, {"value", entry.value}}));
    }
  }

  ChartScope& scope_;
  bool whole_;
};

}  // namespace

std::string plain_key(std::string_view key) {
  std::string result;
  for (const char c : key) {
    if (is_upper(c)) {
      result += static_cast<char>(c - 'A' + 'a');
    } else if (is_lower_or_digit(c)) {
      result += c;
    }
  }
  return result;
}

bool is_environment(const std::string& plain) { return is_one_of(plain, kEnvKeys); }

bool is_beside_engine(const std::string& plain) {
  static constexpr std::array<std::string_view, 13> kBeside = {
      "ingress",  "route",   "probe",         "persistence", "storage",
      "autoscal", "monitor", "initcontainer", "sidecar",     "securitycontext",
      "router",   "volume",  "toleration"};
  return plain.starts_with("service") ||
         std::any_of(kBeside.begin(), kBeside.end(),
                     [&](std::string_view part) { return plain.find(part) != std::string::npos; });
}

NodePtr chart_image(const Node& values) {
  const NodePtr image = share(&values, "image");
  if (image == nullptr) {
    // Flat: repository and tag beside each other.
    const NodePtr repository = share(&values, "repository");
    const NodePtr tag = share(&values, "tag");
    return repository == nullptr || tag == nullptr ? nullptr : join(repository, ':', tag);
  }
  if (image->is_scalar()) return image;
  NodePtr name = share(image.get(), "repository");
  if (name == nullptr) name = share(image.get(), "name");
  if (name == nullptr || !name->is_scalar()) return nullptr;
  NodePtr tag = share(image.get(), "tag");
  return join(join(share(image.get(), "registry"), '/', name), ':', tag);
}

void ChartScope::fill_from(const ChartScope& outer) {
  const auto fill = [](NodePtr& mine, const NodePtr& other) {
    if (mine == nullptr) mine = other;
  };
  image_of_chart = image_of_chart || (image == nullptr && outer.image != nullptr);
  fill(image, outer.image);
  fill(resources, outer.resources);
  fill(node_selector, outer.node_selector);
  fill(affinity, outer.affinity);
  fill(replicas, outer.replicas);
  fill(gpu_count, outer.gpu_count);
  fill(gpu_name, outer.gpu_name);
  if (models.empty()) models = outer.models;
}

void ChartScope::append(const ChartScope& part) {
  options.insert(options.end(), part.options.begin(), part.options.end());
  arguments.insert(arguments.end(), part.arguments.begin(), part.arguments.end());
  env.insert(env.end(), part.env.begin(), part.env.end());
  if (command.empty()) command = part.command;
  fill_from(part);
}

ChartScope read_chart_scope(const Node& values, ScopeReach reach) {
  constexpr int kDepth = 4;  // of settings below their component
  ChartScope scope;
  scope.image = chart_image(values);
  const Node* image = values.find("image");
  scope.image_of_chart = scope.image != nullptr && (image == nullptr || image->is_mapping());
  const bool whole = reach == ScopeReach::kWhole || scope.image != nullptr;
  Collector(scope, whole).read(values, "", reach == ScopeReach::kOwn ? 0 : kDepth);
  return scope;
}

}  // namespace kvbudget
