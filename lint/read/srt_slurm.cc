// Recipes of srt-slurm (ishandhanani/srt-slurm and the copies in InferenceX, 2026): `vllm_config`
// holds the settings of each role's workers under the names of vLLM's flags, `resources` says how
// many machines and GPUs a role has. A worker is started by `python -m dynamo.vllm`; a setting that
// is false or null becomes no flag.

#include <array>
#include <string>

#include "lint/read/config_keys.h"
#include "lint/read/container.h"
#include "lint/read/dynamo_flags.h"
#include "lint/read/readers.h"

namespace kvbudget {
namespace {

/// A role in `vllm_config` and the part of its keys elsewhere.
struct Role {
  std::string_view section;
  std::string_view part;
};
constexpr std::array<Role, 4> kRoles = {
    Role{"prefill", "prefill"},
    Role{"decode", "decode"},
    Role{"aggregated", "agg"},
    Role{"agg", "agg"},
};

class Recipe {
 public:
  Recipe(const YamlFile& yaml, const Node& root, const Node& backend, FileContents& out)
      : file_(yaml.file), root_(root), backend_(backend), out_(out) {}

  void read() {
    for (const Role& role : kRoles) {
      const Entry* section = backend_.find("vllm_config")->find_entry(role.section);
      if (section != nullptr && section->value->is_mapping()) read_role(role, *section);
    }
  }

 private:
  void read_role(const Role& role, const Entry& section) {
    EngineStart start;
    start.file = &file_;
    start.kind = "recipe";
    const Node* name = root_.find("name");
    start.name = (name == nullptr ? "" : name->text.str() + "/") + std::string(role.section);
    start.where = section.key.location();
    set_image(root_.at({"model", "container"}), start);
    if (start.image && start.image->view().find(':') == std::string_view::npos) {
      start.image_known = false;  // an alias, or a file that was made from some image
    }
    add_model(start);
    for (const Entry& entry : section.value->entries) {
      if (is_dynamo_key(entry.key.view()) || entry.value->kind == Node::Kind::kNull) continue;
      start.config.push_back({entry.key, entry.value});
    }
    add_variables(root_.find("environment"), start.env);
    add_variables(backend_.find(std::string(role.section) + "_environment"), start.env);
    read_resources(role, start);
    out_.starts.push_back(std::move(start));
  }

  /// `hf:ORG/NAME` or a path. A plain word is an alias of the cluster's; `identity` says what it
  /// stands for.
  void add_model(EngineStart& start) {
    constexpr std::string_view kHub = "hf:";
    const Node* path = root_.at({"model", "path"});
    const Node* repository = root_.at({"identity", "model", "repo"});
    const bool alias = path == nullptr || path->scalar().find('/') == std::string_view::npos;
    if (alias && repository != nullptr) path = repository;
    if (path == nullptr || !path->is_scalar()) return;
    Word word = word_of(*path);
    if (word.text.view().substr(0, kHub.size()) == kHub) word.text = word.text.substr(kHub.size());
    word.known = word.known && word.text.view().find('/') != std::string_view::npos;
    start.argv.push_back(std::move(word));
  }

  void read_resources(const Role& role, EngineStart& start) {
    const Node* resources = root_.find("resources");
    if (resources == nullptr) return;
    const std::string part(role.part);
    if (const Node* type = resources->find("gpu_type"); type != nullptr && type->is_scalar()) {
      start.gpu.name = {std::string(type->scalar()), type->where};
    }
    start.replicas = number_of(resources->find(part + "_workers"));
    const auto of_node = number_of(resources->find("gpus_per_node"));
    const auto of_worker = gpus_of_worker(*resources, part, of_node, start.replicas);
    if (!of_worker) return;
    start.gpu.count = of_worker;
    if (!of_node || of_node->value == 0 || of_worker->value <= of_node->value) return;
    start.nodes = {(of_worker->value + of_node->value - 1) / of_node->value, of_worker->where};
    start.gpu.count = of_node;
  }

  static std::optional<Located<uint32_t>> gpus_of_worker(
      const Node& resources, const std::string& part,
      const std::optional<Located<uint32_t>>& of_node,
      const std::optional<Located<uint32_t>>& workers) {
    if (const auto said = number_of(resources.find("gpus_per_" + part))) return said;
    const auto nodes = number_of(resources.find(part + "_nodes"));
    if (!of_node || !nodes || !workers || workers->value == 0) return std::nullopt;
    const uint64_t gpus = uint64_t{of_node->value} * nodes->value / workers->value;
    if (gpus == 0 || gpus > UINT32_MAX) return std::nullopt;
    return Located<uint32_t>{static_cast<uint32_t>(gpus), nodes->where};
  }

  const SourceFile& file_;
  const Node& root_;
  const Node& backend_;
  FileContents& out_;
};

}  // namespace

bool read_srt_slurm(const YamlFile& yaml, const Node& root, FileContents& out) {
  const Node* backend = root.find("backend");
  const Node* config = backend == nullptr ? nullptr : backend->find("vllm_config");
  if (config == nullptr || !config->is_mapping() || !yaml.limit.spend_on(root)) return false;
  Recipe(yaml, root, *backend, out).read();
  return true;
}

}  // namespace kvbudget
