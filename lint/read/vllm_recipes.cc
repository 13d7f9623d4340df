// Recipes of vllm-project/recipes (models/ORG/NAME.yaml; schema and order of arguments:
// .claude/skills/add-recipe/SKILL.md and src/lib/command-synthesis.js, 2026-08). One variant is one
// served checkpoint. Strategy, hardware and opt-in features are chosen on the web page, so only
// what every choice has in common is read; a variant for one card has that card's overrides too.

#include <algorithm>
#include <array>
#include <string>

#include "lint/read/config_keys.h"
#include "lint/read/container.h"
#include "lint/read/flag_words.h"
#include "lint/read/readers.h"

namespace kvbudget {
namespace {

bool is_recipe(const Node& root) {
  const Node* model = root.find("model");
  const Node* variants = root.find("variants");
  return model != nullptr && model->find("model_id") != nullptr && variants != nullptr &&
         variants->is_mapping() && root.find("meta") != nullptr;
}

bool contains(const Node* list, std::string_view text) {
  if (list == nullptr) return false;
  return std::any_of(list->items.begin(), list->items.end(),
                     [&](const NodePtr& item) { return item->scalar() == text; });
}

/// taxonomy.yaml: the generation whose overrides a card takes.
std::string_view generation_of(std::string_view hardware) {
  const auto starts_with = [&](std::string_view head) {
    return hardware.substr(0, head.size()) == head;
  };
  if (starts_with("mi")) return "amd";
  if (hardware == "h100" || hardware == "h200") return "hopper";
  if (starts_with("b") || starts_with("gb") || starts_with("dgx") || starts_with("rtx_pro") ||
      starts_with("rtx_5")) {
    return "blackwell";
  }
  return starts_with("rtx_4") ? "ada" : std::string_view();
}

bool is_nvidia(std::string_view generation) {
  return generation == "hopper" || generation == "blackwell" || generation == "ada";
}

class Recipe {
 public:
  Recipe(const YamlFile& yaml, const Node& root, FileContents& out)
      : file_(yaml.file), root_(root), model_(*root.find("model")), out_(out) {}

  void read() {
    for (const Entry& variant : root_.find("variants")->entries) read_variant(variant);
  }

 private:
  void read_variant(const Entry& entry) {
    const Node& variant = *entry.value;
    EngineStart start;
    start.file = &file_;
    start.kind = "recipe";
    start.name = std::string(model_.find("model_id")->scalar()) + "/" + entry.key.str();
    start.where = entry.key.location();
    std::string_view hardware;
    const Node* supported = variant.find("supported_hardware");
    if (supported != nullptr && supported->items.size() == 1) {
      const Node& only = *supported->items.front();
      hardware = only.scalar();
      start.gpu.name = {std::string(hardware), only.where};
    }
    read_model(variant, start);
    read_image(variant, hardware, start);
    add_words(model_.find("base_args"), start.argv);
    add_variables(model_.find("base_env"), start.env);
    add_options(&variant, start);
    read_tensor_parallel(variant, start);
    read_hardware(variant, hardware, start);
    read_features(entry.key.view(), start);
    out_.starts.push_back(std::move(start));
  }

  void read_model(const Node& variant, EngineStart& start) {
    const Node* model = variant.find("model_id");
    if (model == nullptr) model = model_.find("model_id");
    start.argv.push_back(word_of(*model));
  }

  void read_image(const Node& variant, std::string_view hardware, EngineStart& start) {
    const Node* image = variant.at({"hardware_overrides", hardware, "docker_image"});
    if (image == nullptr) image = variant.find("docker_image");
    if (image == nullptr) image = model_.find("docker_image");
    if (image == nullptr) return;
    const bool amd = generation_of(hardware) == "amd";
    if (image->is_mapping()) image = image->find(amd ? "amd" : "nvidia");
    if (image != nullptr && !image->scalar().empty()) set_image(image, start);
  }

  static void add_options(const Node* options, EngineStart& start) {
    if (options == nullptr) return;
    add_words(options->find("extra_args"), start.argv);
    add_variables(options->find("extra_env"), start.env);
  }

  /// A size of its own goes with the strategy that is taken first, tensor parallel on one machine.
  void read_tensor_parallel(const Node& variant, EngineStart& start) {
    const Node* strategy = root_.find("default_strategy");
    const bool chosen = strategy != nullptr
                            ? strategy->scalar() == "single_node_tp"
                            : contains(root_.find("compatible_strategies"), "single_node_tp");
    const Entry* size = variant.find_entry("tp");
    if (!chosen || size == nullptr || !number_of(size->value.get())) return;
    add_flag(*size, "tensor-parallel-size", KeyForm::kValue, start.argv);
  }

  void read_hardware(const Node& variant, std::string_view hardware, EngineStart& start) {
    if (hardware.empty()) return;
    const std::string_view generation = generation_of(hardware);
    for (const Node* level : {&root_, &variant}) {
      const Node* overrides = level->find("hardware_overrides");
      if (overrides == nullptr) continue;
      const Node* of_generation = overrides->find(generation);
      if (of_generation == nullptr && is_nvidia(generation)) {
        of_generation = overrides->find("nvidia");
      }
      add_options(of_generation, start);
      if (level == &variant && generation != hardware)
        add_options(overrides->find(hardware), start);
    }
  }

  void read_features(std::string_view variant, EngineStart& start) {
    const Node* features = root_.find("features");
    if (features == nullptr) return;
    const Node* opt_in = root_.find("opt_in_features");
    for (const Entry& feature : features->entries) {
      if (contains(opt_in, feature.key.view())) continue;
      const Node* chosen = feature.value.get();
      if (const Node* modes = chosen->find("modes"))
        chosen = default_mode(*chosen, *modes, variant);
      if (chosen == nullptr) continue;
      add_words(chosen->find("args"), start.argv);
      add_variables(chosen->find("env"), start.env);
    }
  }

  static const Node* default_mode(const Node& feature, const Node& modes,
                                  std::string_view variant) {
    const auto allowed = [&](const Node& mode) {
      const Node* list = mode.find("variants");
      return list == nullptr || list->items.empty() || contains(list, variant);
    };
    const Node* name = feature.find("default_mode");
    const Node* mode = name == nullptr ? nullptr : modes.find(name->scalar());
    if (mode != nullptr && allowed(*mode)) return mode;
    for (const Entry& entry : modes.entries) {
      if (allowed(*entry.value)) return entry.value.get();
    }
    return nullptr;
  }

  const SourceFile& file_;
  const Node& root_;
  const Node& model_;
  FileContents& out_;
};

}  // namespace

bool read_vllm_recipe(const YamlFile& yaml, const Node& root, FileContents& out) {
  if (!is_recipe(root) || !yaml.limit.spend_on(root)) return false;
  Recipe(yaml, root, out).read();
  return true;
}

}  // namespace kvbudget
