// Stage configs of vLLM-Omni (vllm_omni/model_executor/stage_configs and deploy configs, 2026):
// each stage is an engine of its own on the devices it names. Settings stand in the stage itself
// (`stages`) or in its `engine_args` (`stage_args`), under the names of EngineArgs.

#include <algorithm>
#include <array>
#include <string>

#include "lint/read/config_keys.h"
#include "lint/read/manifest.h"
#include "lint/read/readers.h"
#include "lint/read/text.h"
#include "lint/read/vllm_names.h"

namespace kvbudget {
namespace {

// What Omni itself takes of a stage or of its engine_args.
constexpr std::array<std::string_view, 24> kOwnKeys = {"stage_id",
                                                       "stage_type",
                                                       "stage_name",
                                                       "devices",
                                                       "process",
                                                       "runtime",
                                                       "model_stage",
                                                       "model_arch",
                                                       "worker_type",
                                                       "worker_cls",
                                                       "engine_args",
                                                       "engine_input_source",
                                                       "engine_output_type",
                                                       "input_connectors",
                                                       "output_connectors",
                                                       "is_comprehension",
                                                       "final_output",
                                                       "final_output_type",
                                                       "default_sampling_params",
                                                       "custom_process_input_func",
                                                       "custom_process_next_stage_input_func",
                                                       "hf_config_name",
                                                       "requires_multimodal_data",
                                                       "max_batch_size"};

bool is_own_key(std::string_view key) {
  return std::find(kOwnKeys.begin(), kOwnKeys.end(), key) != kOwnKeys.end();
}

const Node* stages_of(const Node& root) {
  for (const std::string_view key : {"stages", "stage_args"}) {
    const Node* stages = root.find(key);
    if (stages == nullptr || !stages->is_sequence() || stages->items.empty()) continue;
    const auto is_stage = [](const NodePtr& item) { return item->find("stage_id") != nullptr; };
    if (std::all_of(stages->items.begin(), stages->items.end(), is_stage)) return stages;
  }
  return nullptr;
}

void add_engine_keys(const Node& mapping, std::vector<ConfigKey>& keys) {
  add_keys(mapping, keys);
  std::erase_if(keys, [](const ConfigKey& key) { return is_own_key(key.key.view()); });
}

/// `"0"`, `"0,1"`.
void read_devices(const Node* devices, EngineStart& start) {
  if (devices == nullptr || devices->scalar().empty()) return;
  const std::string_view list = devices->scalar();
  if (list.find_first_not_of("0123456789, ") != std::string_view::npos) return;
  const auto commas = std::count(list.begin(), list.end(), ',');
  start.gpu.count = {static_cast<uint32_t>(commas) + 1, devices->where};
}

void read_stage(const YamlFile& yaml, const Node& stage, FileContents& out) {
  EngineStart start;
  start.file = &yaml.file;
  start.kind = "omni-stage";
  start.name = "stage " + stage.find("stage_id")->text.str();
  start.where = first_key(stage);
  start.serve = false;
  start.keys_are_arguments = true;
  add_engine_keys(stage, start.config);
  if (const Node* arguments = stage.find("engine_args")) {
    add_engine_keys(*arguments, start.config);
  }
  const bool engine = std::any_of(start.config.begin(), start.config.end(), [](const auto& key) {
    return is_distinctive_option(with_dashes(key.key.view()));
  });
  if (!engine) return;
  read_devices(stage.find("devices"), start);
  read_devices(stage.at({"runtime", "devices"}), start);
  out.starts.push_back(std::move(start));
}

}  // namespace

bool read_omni_stages(const YamlFile& yaml, const Node& root, FileContents& out) {
  const Node* stages = stages_of(root);
  if (stages == nullptr || !yaml.limit.spend_on(root)) return false;
  for (const NodePtr& stage : stages->items) read_stage(yaml, *stage, out);
  return true;
}

}  // namespace kvbudget
