// Job specification of Nomad 1.9: groups (`count` instances each) of tasks; the drivers docker,
// podman, exec and raw_exec take `config` with image, entrypoint, command and args; GPUs are
// devices ("nvidia/gpu", "amd/gpu", "nvidia/gpu/Tesla T4"), their kind also a constraint on
// `${device.model}`. `${…}` is filled in by Nomad.

#include "lint/read/nomad.h"

#include <string>

#include "lint/read/config_keys.h"
#include "lint/read/container.h"
#include "lint/read/here_documents.h"
#include "lint/read/manifest.h"

namespace kvbudget {
namespace {

std::string label_of(const Node& block) {
  const Node* label = block.find(kHclLabel);
  return label == nullptr ? "" : label->text.str();
}

/// Names in HCL bodies are spelled as providers have them; variables keep their own spelling.
void add_environment(const Node& env, EngineStart& start) {
  for (const Entry& entry : env.entries) {
    if (!entry.value->is_scalar() || !entry.key.location()) continue;
    const Location where = entry.key.location();
    start.env.push_back({SourceText(*where.file, where.range), entry.value->text, true});
  }
}

/// "nvidia/gpu/Tesla T4" names the card; so may a constraint.
void read_device(const Node& device, EngineStart& start) {
  const Node* label = device.find(kHclLabel);
  const std::string_view type = label == nullptr ? std::string_view() : label->scalar();
  const size_t gpu = type.find("gpu");
  if (gpu == std::string_view::npos) return;
  start.gpu.resource = type.starts_with("amd") ? "amd.com/gpu" : "nvidia.com/gpu";
  const Node* count = device.find("count");
  start.gpu.count = count == nullptr ? Located<uint32_t>{1, label->where} : number_of(count);
  if (gpu + 4 < type.size()) {
    const SourceText card = label->text.substr(gpu + 4);
    start.gpu.name = {card.str(), card.location()};
  }
  const Node* constraint = device.find("constraint");
  const Node* value = constraint == nullptr ? nullptr : constraint->find("value");
  if (value == nullptr || !has_text(constraint->find("attribute"), "${device.model}")) return;
  start.gpu.name = {value->text.str(), value->where};
}

void read_task(const Node& task, EngineStart start, FileContents& out) {
  start.name += "/" + label_of(task);
  for (const Entry& entry : task.entries) {
    const std::string_view key = entry.key.view();
    if (key == "env") {  // a block, hence a list in the parsed body
      for (const NodePtr& block : entry.value->items) add_environment(*block, start);
    }
    const Node* device = key == "resources" ? entry.value->find("device") : nullptr;
    if (device != nullptr) read_device(*device, start);
  }
  const Node* config = task.find("config");
  if (config == nullptr) return;
  set_image(config->find("image"), start);
  start.where = config->where;
  const Node* entrypoint = config->find("entrypoint");
  const Node* command = config->find("command");
  Container container;
  container.has_entrypoint = entrypoint != nullptr || (!start.image && command != nullptr);
  if (entrypoint != nullptr) add_words(entrypoint, container.words);
  if (command != nullptr && command->is_scalar()) container.words.push_back(word_of(*command));
  add_words(config->find("args"), container.words);
  const size_t before = out.starts.size();
  add_container_starts(container, start, out);
  for (size_t i = before; i < out.starts.size(); ++i) mark_unknown_parts(out.starts[i]);
}

}  // namespace

void read_nomad_job(const SourceFile& file, const HclBlock& job, FileContents& out) {
  EngineStart start;
  start.file = &file;
  start.kind = "nomad";
  start.name = job.labels.empty() ? "job" : job.labels.front().str();
  for (const Entry& group : job.body->entries) {
    if (group.key.view() != "group") continue;
    EngineStart inner = start;
    inner.name += "/" + label_of(*group.value);
    inner.replicas = number_of(group.value->find("count"));
    inner.serves_traffic =
        group.value->find("service") != nullptr || group.value->find("network") != nullptr;
    for (const Entry& task : group.value->entries) {
      if (task.key.view() == "task") read_task(*task.value, inner, out);
    }
  }
}

}  // namespace kvbudget
