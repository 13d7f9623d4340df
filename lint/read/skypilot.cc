// SkyPilot task files (sky/utils/schemas.py, 0.10): `resources.accelerators`, `envs`, `setup` and
// the shell text of `run`, which every node runs; `service` says how many replicas.

#include <algorithm>
#include <array>
#include <string>

#include "lint/read/accelerators.h"
#include "lint/read/container.h"
#include "lint/read/pip_pin.h"
#include "lint/read/readers.h"

namespace kvbudget {
namespace {

constexpr std::array<std::string_view, 14> kTaskKeys = {
    "name",  "workdir", "num_nodes", "resources", "envs",    "secrets", "file_mounts",
    "setup", "run",     "service",   "config",    "volumes", "inputs",  "outputs"};

bool is_task(const Node& root) {
  const Node* run = root.find("run");
  if (run == nullptr || !run->is_scalar()) return false;
  const auto known = [](const Entry& entry) {
    return std::find(kTaskKeys.begin(), kTaskKeys.end(), entry.key.view()) != kTaskKeys.end();
  };
  const auto count = std::count_if(root.entries.begin(), root.entries.end(), known);
  return root.find("resources") != nullptr && count >= 2 &&
         static_cast<size_t>(count) * 4 >= root.entries.size() * 3;
}

/// "A100" is the 40 GB card in SkyPilot's catalogue and "V100" the one of 16 GB; the larger ones
/// carry their size.
SourceText card_name(SourceText name) {
  const uint32_t end = name.offset(name.size());
  if (name.view() == "A100") name.append_synthetic("-40GB", end - 1);
  if (name.view() == "V100") name.append_synthetic("-16GB", end - 1);
  return name;
}

/// `NAME`, `NAME:COUNT`; `value` is what stands behind the key of a mapping.
Accelerator read_accelerator(const SourceText& text, const Node* value) {
  const size_t colon = std::min(text.view().find(':'), text.size());
  Accelerator result{card_name(text.substr(0, colon)), {}};
  if (value != nullptr && value->is_scalar()) {
    result.count = whole_number(value->text);
  } else if (colon < text.size()) {
    result.count = whole_number(text.substr(colon + 1));
  } else {
    result.count = {1, text.location()};
  }
  return result;
}

void add_accelerators(const Node* resources, std::vector<Accelerator>& out) {
  const Node* node = resources == nullptr ? nullptr : resources->find("accelerators");
  if (node == nullptr) return;
  if (node->is_scalar() && word_of(*node).known) out.push_back(read_accelerator(node->text, {}));
  for (const NodePtr& item : node->items) {
    if (item->is_scalar()) out.push_back(read_accelerator(item->text, {}));
  }
  for (const Entry& entry : node->entries) {
    out.push_back(read_accelerator(entry.key, entry.value.get()));
  }
}

GpuRequest read_gpus(const Node& resources) {
  std::vector<Accelerator> alternatives;
  add_accelerators(&resources, alternatives);
  for (const std::string_view list : {"any_of", "ordered"}) {
    const Node* choices = resources.find(list);
    if (choices == nullptr) continue;
    for (const NodePtr& choice : choices->items) add_accelerators(choice.get(), alternatives);
  }
  GpuRequest gpu = request_of(alternatives);
  const Node* machine = resources.find("instance_type");
  if (alternatives.empty() && machine != nullptr && machine->is_scalar()) {
    gpu.name = {std::string(machine->scalar()), machine->where};
  }
  return gpu;
}

std::vector<EnvVar> read_variables(const Node& root) {
  std::vector<EnvVar> env;
  for (const std::string_view key : {"envs", "secrets"}) {
    const Node* node = root.find(key);
    if (node == nullptr) continue;
    for (const Entry& entry : node->entries) {
      // Without a value it must be given on the command line.
      const bool known = entry.value->is_scalar() && word_of(*entry.value).known;
      env.push_back({entry.key, entry.value->text, known});
    }
  }
  return env;
}

void read_image(const Node& resources, EngineStart& start) {
  constexpr std::string_view kScheme = "docker:";
  const Node* image = resources.find("image_id");
  if (image == nullptr || image->scalar().substr(0, kScheme.size()) != kScheme) return;
  start.image = image->text.substr(kScheme.size());
  start.image_known = word_of(*image).known;
}

void read_service(const Node* service, EngineStart& start) {
  if (service == nullptr) return;
  start.serves_traffic = true;
  start.replicas = number_of(service->find("replicas"));
  if (!start.replicas) start.replicas = number_of(service->at({"replica_policy", "min_replicas"}));
}

bool joins_machines(std::string_view script) {
  static constexpr std::array<std::string_view, 3> kSigns = {"ray start", "--nnodes", "start_ray"};
  return std::any_of(kSigns.begin(), kSigns.end(), [&](std::string_view sign) {
    return script.find(sign) != std::string_view::npos;
  });
}

}  // namespace

bool read_skypilot(const YamlFile& yaml, const Node& root, FileContents& out) {
  if (!is_task(root) || !yaml.limit.spend_on(root)) return false;
  const Node& resources = *root.find("resources");
  const Node& run = *root.find("run");
  EngineStart start;
  start.file = &yaml.file;
  start.kind = "skypilot";
  const Node* name = root.find("name");
  start.name = "task" + (name == nullptr ? "" : " " + std::string(name->scalar()));
  start.where = run.where;
  start.env = read_variables(root);
  start.gpu = read_gpus(resources);
  read_image(resources, start);
  read_service(root.find("service"), start);
  if (const Node* setup = root.find("setup")) start.version = pinned_vllm(setup->text);
  if (auto pin = pinned_vllm(run.text)) start.version = std::move(pin);
  const std::optional<Located<uint32_t>> nodes = number_of(root.find("num_nodes"));
  if (nodes && nodes->value > 1 && joins_machines(run.scalar())) start.nodes = nodes;

  ShellScope scope;
  scope.inherit(platform_variable("SKYPILOT_NUM_GPUS_PER_NODE", start.gpu.count));
  scope.inherit(
      platform_variable("SKYPILOT_NUM_NODES", nodes ? nodes : Located<uint32_t>{1, Location{}}));
  add_script_starts(run.text, std::move(scope), start, out);
  return true;
}

}  // namespace kvbudget
