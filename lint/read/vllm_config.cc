// vLLM's own config file (`vllm serve --config FILE`): a flat mapping of option names.

#include <string>

#include "lint/read/manifest.h"
#include "lint/read/readers.h"
#include "lint/read/vllm_names.h"

namespace kvbudget {
namespace {

/// Two thirds of the keys are options of vLLM (other engines share half of its words), and at least
/// one is not shared with other programs.
bool is_vllm_config(const Node& root) {
  if (!root.is_mapping()) return false;
  size_t options = 0;
  size_t distinctive = 0;
  for (const Entry& entry : root.entries) {
    if (is_vllm_option(entry.key.view())) ++options;
    if (is_distinctive_option(entry.key.view())) ++distinctive;
  }
  return options >= 2 && distinctive >= 1 && options * 3 >= root.entries.size() * 2;
}

void add_config(const SourceFile& file, const Node& root, std::string name, FileContents& out) {
  EngineStart& start = out.starts.emplace_back();
  start.file = &file;
  start.kind = "vllm-config";
  start.name = std::move(name);
  // `{` of JSON, else the first key.
  const Location key = first_key(root);
  const bool bracket = root.where.range.begin < key.range.begin;
  start.where =
      bracket ? Location{root.where.file, {root.where.range.begin, root.where.range.begin + 1}}
              : key;
  for (const Entry& entry : root.entries) start.config.push_back({entry.key, entry.value});
}

bool is_config_name(std::string_view name) {
  const auto ends_with = [&](std::string_view tail) {
    return name.size() > tail.size() && name.substr(name.size() - tail.size()) == tail;
  };
  return ends_with(".yaml") || ends_with(".yml");
}

}  // namespace

bool read_vllm_config(const YamlFile& yaml, const Node& root, FileContents& out) {
  if (!is_vllm_config(root)) return false;
  add_config(yaml.file, root, "vllm config", out);
  return true;
}

void read_config_map(const YamlFile& yaml, const Node& root, FileContents& out) {
  const Node* kind = root.find("kind");
  const Node* data = root.find("data");
  if (kind == nullptr || kind->scalar() != "ConfigMap" || data == nullptr) return;
  for (const Entry& entry : data->entries) {
    if (!entry.value->is_scalar() || !is_config_name(entry.key.view())) continue;
    const Document inner = parse_yaml(entry.value->text);
    if (inner.roots.size() != 1 || !is_vllm_config(*inner.roots.front())) continue;
    const Node* name = root.at({"metadata", "name"});
    const std::string map = name == nullptr ? std::string() : std::string(name->scalar());
    add_config(yaml.file, *inner.roots.front(), "ConfigMap/" + map + "/" + entry.key.str(), out);
  }
}

}  // namespace kvbudget
