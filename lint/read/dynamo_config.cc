// A section is turned into flags key by key (ServiceConfig.as_args, deploy/sdk of Dynamo 0.3), with
// the keys of `Common` that its `common-configs` lists; a false key is left out. `ServiceArgs` says
// how many workers and GPUs.

#include "lint/read/dynamo_config.h"

#include <algorithm>
#include <string>

#include "lint/read/container.h"
#include "lint/read/dynamo_flags.h"
#include "lint/read/readers.h"
#include "lint/read/text.h"
#include "lint/read/vllm_names.h"

namespace kvbudget {
namespace {

constexpr std::string_view kShared = "common-configs";

/// Components that run vLLM are workers; other engines' name theirs.
bool names_worker(std::string_view name) {
  const auto contains = [&](std::string_view part) {
    return name.find(part) != std::string_view::npos;
  };
  return contains("Worker") && !contains("SGLang") && !contains("TensorRT") &&
         !contains("TRTLLM") && !contains("Encode") && !contains("Dummy");
}

std::vector<ConfigKey> keys_of(const Node& config, const Node& section) {
  std::vector<ConfigKey> keys;
  const Node* common = config.find("Common");
  const Node* shared = section.find(kShared);
  if (common != nullptr && shared != nullptr) {
    for (const NodePtr& name : shared->items) {
      const Entry* entry = common->find_entry(name->scalar());
      const bool own = section.find(name->scalar()) != nullptr;
      if (entry != nullptr && !own) keys.push_back({entry->key, entry->value});
    }
  }
  for (const Entry& entry : section.entries) keys.push_back({entry.key, entry.value});
  std::erase_if(keys, [](const ConfigKey& key) {
    return is_dynamo_key(with_dashes(key.key.view())) || is_dynamo_key(key.key.view());
  });
  return keys;
}

bool runs_vllm(const Node& config, const Entry& section) {
  if (!section.value->is_mapping() || !names_worker(section.key.view())) return false;
  const std::vector<ConfigKey> keys = keys_of(config, *section.value);
  return std::any_of(keys.begin(), keys.end(), [](const ConfigKey& key) {
    return is_vllm_option(with_dashes(key.key.view()));
  });
}

}  // namespace

bool is_dynamo_config(const Node& config) {
  if (!config.is_mapping()) return false;
  bool marked = false;
  for (const Entry& entry : config.entries) {
    if (!entry.value->is_mapping()) return false;
    marked = marked || entry.value->find(kShared) != nullptr ||
             entry.value->find("ServiceArgs") != nullptr;
  }
  return marked && std::any_of(config.entries.begin(), config.entries.end(),
                               [&](const Entry& entry) { return runs_vllm(config, entry); });
}

void add_dynamo_section(const Node& config, const Entry& section, const EngineStart& base,
                        FileContents& out) {
  if (!runs_vllm(config, section)) return;
  EngineStart start = base;
  if (!start.where) start.where = section.key.location();
  start.config = keys_of(config, *section.value);
  if (const auto workers = number_of(section.value->at({"ServiceArgs", "workers"}))) {
    if (!start.replicas) start.replicas = workers;
  }
  if (const auto gpus = number_of(section.value->at({"ServiceArgs", "resources", "gpu"}))) {
    start.gpu.resource = "nvidia.com/gpu";
    if (!start.gpu.count) start.gpu.count = gpus;
  }
  out.starts.push_back(std::move(start));
}

bool read_dynamo_config(const YamlFile& yaml, const Node& root, FileContents& out) {
  if (!is_dynamo_config(root) || !yaml.limit.spend_on(root)) return false;
  for (const Entry& section : root.entries) {
    EngineStart base;
    base.file = &yaml.file;
    base.kind = "dynamo";
    base.name = section.key.str();
    add_dynamo_section(root, section, base, out);
  }
  return true;
}

}  // namespace kvbudget
