// dstack configurations (dstack 0.19, reference of `service`, `task` and `dev-environment`):
// `commands` are lines of one shell script, `resources.gpu` says which cards.

#include <algorithm>
#include <string>

#include "lint/read/accelerators.h"
#include "lint/read/container.h"
#include "lint/read/manifest.h"
#include "lint/read/pip_pin.h"
#include "lint/read/readers.h"
#include "lint/read/shell_words.h"

namespace kvbudget {
namespace {

bool is_configuration(const Node& root) {
  const Node* type = root.find("type");
  if (type == nullptr || root.find("apiVersion") != nullptr) return false;
  const std::string_view name = type->scalar();
  if (name != "service" && name != "task" && name != "dev-environment") return false;
  const Node* commands = root.find("commands");
  return (commands != nullptr && commands->is_sequence()) || root.find("resources") != nullptr;
}

bool is_vendor(std::string_view text) {
  return text == "nvidia" || text == "amd" || text == "google" || text == "intel" ||
         text == "tenstorrent" || text == "tpu";
}

bool is_size(std::string_view text) {
  return text.size() > 2 && text.substr(text.size() - 2) == "GB";
}

bool is_number(std::string_view text) {
  return !text.empty() && text.find_first_not_of("0123456789.") == std::string_view::npos;
}

/// `2`; of a range such as `1..8` nothing is known but that there is a card.
std::optional<Located<uint32_t>> read_count(const SourceText& text) { return whole_number(text); }

/// Cards of the names in `names` (`A100,H100`), each with `memory` behind it: "A100" and "80GB".
std::vector<Accelerator> cards(const SourceText& names, const SourceText& memory,
                               const std::optional<Located<uint32_t>>& count) {
  std::vector<Accelerator> result;
  for (size_t begin = 0; begin < names.size();) {
    const size_t end = std::min(names.view().find(',', begin), names.size());
    SourceText name = names.substr(begin, end - begin);
    const bool sized = is_size(memory.view()) && memory.view().find("..") == std::string_view::npos;
    if (sized) name.append_synthetic("-" + memory.str(), name.offset(name.size()) - 1);
    result.push_back({std::move(name), count});
    begin = end + 1;
  }
  if (result.empty()) result.push_back({SourceText(), count});
  return result;
}

/// `MI300X:8`, `A100:80GB:2`, `nvidia:24GB..:1`, `24GB`.
std::vector<Accelerator> read_short(const SourceText& text) {
  SourceText names;
  SourceText memory;
  std::optional<Located<uint32_t>> count = Located<uint32_t>{1, text.location()};
  for (size_t begin = 0; begin <= text.size();) {
    const size_t end = std::min(text.view().find(':', begin), text.size());
    const SourceText part = text.substr(begin, end - begin);
    begin = end + 1;
    if (part.empty() || is_vendor(part.view())) continue;
    if (part.view().find("GB") != std::string_view::npos) {
      memory = part;
    } else if (is_number(part.view())) {
      count = read_count(part);
    } else {
      names = part;
    }
  }
  return cards(names, memory, count);
}

std::vector<Accelerator> read_long(const Node& gpu) {
  const Node* count_node = gpu.find("count");
  const Node* memory_node = gpu.find("memory");
  const Node* name = gpu.find("name");
  const SourceText memory = memory_node == nullptr ? SourceText() : memory_node->text;
  const auto count =
      count_node == nullptr ? Located<uint32_t>{1, gpu.where} : read_count(count_node->text);
  if (name == nullptr) return cards(SourceText(), memory, count);
  if (name->is_scalar()) return cards(name->text, memory, count);
  std::vector<Accelerator> result;
  for (const NodePtr& item : name->items) {
    for (Accelerator& card : cards(item->text, memory, count)) result.push_back(std::move(card));
  }
  return result;
}

GpuRequest read_gpus(const Node& root) {
  const Node* gpu = root.at({"resources", "gpu"});
  if (gpu == nullptr || gpu->kind == Node::Kind::kNull) return {};
  return request_of(gpu->is_scalar() ? read_short(gpu->text) : read_long(*gpu));
}

std::vector<EnvVar> read_variables(const Node* node) {
  std::vector<EnvVar> env;
  if (node == nullptr) return env;
  for (const Entry& entry : node->entries) {
    env.push_back({entry.key, entry.value->text, entry.value->is_scalar()});
  }
  for (const NodePtr& item : node->items) {
    const Word word{item->text, true};
    if (auto variable = as_assignment(word)) {
      env.push_back(std::move(*variable));
    } else {
      env.push_back({item->text, {}, false});  // given when the configuration is applied
    }
  }
  return env;
}

/// The commands as the one script that dstack makes of them.
SourceText script_of(const Node* commands) {
  SourceText script;
  if (commands == nullptr) return script;
  for (const NodePtr& item : commands->items) {
    if (!item->is_scalar()) continue;
    if (!script.empty()) script.append_synthetic("\n", item->text.offset(0));
    script.append(item->text);
  }
  return script;
}

std::optional<Located<uint32_t>> read_replicas(const Node* node) {
  if (node == nullptr || !node->is_scalar()) return std::nullopt;
  return whole_number(node->text.substr(0, node->scalar().find("..")));
}

}  // namespace

bool read_dstack(const YamlFile& yaml, const Node& root, FileContents& out) {
  if (!is_configuration(root) || !yaml.limit.spend_on(root)) return false;
  EngineStart start;
  start.file = &yaml.file;
  start.kind = "dstack";
  const Node* name = root.find("name");
  start.name = std::string(root.find("type")->scalar()) +
               (name == nullptr ? "" : " " + std::string(name->scalar()));
  start.where = first_key(root);
  start.env = read_variables(root.find("env"));
  start.gpu = read_gpus(root);
  if (const Node* image = root.find("image"); image != nullptr && image->is_scalar()) {
    start.image = image->text;
    start.image_known = word_of(*image).known;
  }
  start.replicas = read_replicas(root.find("replicas"));
  start.serves_traffic = root.find("type")->scalar() == "service";
  const auto nodes = number_of(root.find("nodes"));
  if (nodes && nodes->value > 1) start.nodes = nodes;
  const SourceText script = script_of(root.find("commands"));
  start.version = pinned_vllm(script);

  ShellScope scope;
  scope.inherit(platform_variable("DSTACK_GPUS_PER_NODE", start.gpu.count));
  if (!start.nodes) scope.inherit(platform_variable("DSTACK_GPUS_NUM", start.gpu.count));
  scope.inherit(
      platform_variable("DSTACK_NODES_NUM", nodes ? nodes : Located<uint32_t>{1, Location{}}));
  if (!script.empty()) {
    add_script_starts(script, std::move(scope), start, out);
  } else {
    add_container_starts({}, start, out);
  }
  return true;
}

}  // namespace kvbudget
