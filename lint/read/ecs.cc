// Task definitions of Amazon ECS (API reference 2014-11-13, RegisterTaskDefinition): as JSON for
// the AWS CLI, in CloudFormation (`Type: AWS::ECS::TaskDefinition`, whose names begin with a
// capital), and in Terraform (`aws_ecs_task_definition`, `container_definitions = jsonencode(…)`).

#include <algorithm>
#include <string>

#include "lint/read/config_keys.h"
#include "lint/read/container.h"
#include "lint/read/manifest.h"
#include "lint/read/readers.h"
#include "lint/read/rendered.h"

namespace kvbudget {
namespace {

/// The member of that name, or of the name with a capital.
const Node* member(const Node& node, std::string_view name) {
  if (const Node* found = node.find(name)) return found;
  std::string capital(name);
  capital[0] = static_cast<char>(capital[0] - 'a' + 'A');
  return node.find(capital);
}

std::string_view text_of(const Node& node, std::string_view name) {
  const Node* value = member(node, name);
  return value == nullptr ? std::string_view() : value->scalar();
}

void read_variables(const Node& container, EngineStart& start) {
  const Node* list = member(container, "environment");
  for (const NodePtr& item : list == nullptr ? std::vector<NodePtr>() : list->items) {
    const Node* name = member(*item, "name");
    const Node* value = member(*item, "value");
    if (name == nullptr || value == nullptr || !name->is_scalar()) continue;
    Node pair;
    pair.entries.push_back({name->text, std::make_shared<Node>(*value)});
    add_variables(&pair, start.env);
  }
  const Node* secrets = member(container, "secrets");
  for (const NodePtr& item : secrets == nullptr ? std::vector<NodePtr>() : secrets->items) {
    const Node* name = member(*item, "name");
    if (name != nullptr && name->is_scalar()) start.env.push_back({name->text, {}, false});
  }
}

void read_gpus(const Node& container, EngineStart& start) {
  const Node* list = member(container, "resourceRequirements");
  for (const NodePtr& item : list == nullptr ? std::vector<NodePtr>() : list->items) {
    if (text_of(*item, "type") != "GPU") continue;
    start.gpu.resource = "nvidia.com/gpu";
    start.gpu.count = number_of(member(*item, "value"));
  }
}

/// `attribute:ecs.instance-type == g5.12xlarge`, one machine only.
void read_machine(const Node& task, EngineStart& start) {
  constexpr std::string_view kAttribute = "attribute:ecs.instance-type ==";
  const Node* list = member(task, "placementConstraints");
  for (const NodePtr& item : list == nullptr ? std::vector<NodePtr>() : list->items) {
    const Node* expression = member(*item, "expression");
    if (expression == nullptr || !expression->scalar().starts_with(kAttribute)) continue;
    const std::string_view text = expression->scalar();
    const size_t begin = text.find_first_not_of(' ', kAttribute.size());
    if (begin == std::string_view::npos || text.find(' ', begin) != std::string_view::npos)
      continue;
    const SourceText machine = expression->text.substr(begin);
    start.gpu.name = {machine.str(), machine.location()};
  }
}

void read_container(const YamlFile& yaml, const Node& task, const Node& container,
                    const std::string& family, FileContents& out) {
  EngineStart start;
  start.file = &yaml.file;
  start.kind = "ecs";
  start.name = family + "/" + std::string(text_of(container, "name"));
  start.where = first_key(container);
  const Node* ports = member(container, "portMappings");
  start.serves_traffic = ports != nullptr && !ports->items.empty();
  set_image(member(container, "image"), start);
  read_variables(container, start);
  read_machine(task, start);
  read_gpus(container, start);
  Container command;
  if (const Node* entrypoint = member(container, "entryPoint")) {
    command.has_entrypoint = !entrypoint->items.empty();
    add_words(entrypoint, command.words);
  }
  add_words(member(container, "command"), command.words);
  add_container_starts(command, start, out);
}

bool read_task(const YamlFile& yaml, const Node& task, const std::string& fallback,
               FileContents& out) {
  const Node* containers = member(task, "containerDefinitions");
  if (containers == nullptr || !containers->is_sequence()) return false;
  const std::string_view family = text_of(task, "family");
  for (const NodePtr& container : containers->items) {
    if (!container->is_mapping() || !yaml.limit.spend_on(*container)) continue;
    read_container(yaml, task, *container, family.empty() ? fallback : std::string(family), out);
  }
  return true;
}

/// `container_definitions = <<EOF [ … ]` of Terraform is the list alone.
bool is_container_list(const Node& root) {
  return !root.items.empty() &&
         std::all_of(root.items.begin(), root.items.end(), [](const auto& i) {
           return i->find("image") != nullptr && i->find("name") != nullptr;
         });
}

}  // namespace

bool read_ecs(const YamlFile& yaml, const Node& root, FileContents& out) {
  if (!yaml.limit.spend(64)) return false;
  if (is_container_list(root)) {
    return read_task(yaml, *map_of({{"containerDefinitions", std::make_shared<Node>(root)}}),
                     "task", out);
  }
  if (read_task(yaml, root, "task", out)) return true;
  const Node* described = root.find("taskDefinition");  // what `describe-task-definition` prints
  if (described != nullptr && read_task(yaml, *described, "task", out)) return true;
  const Node* resources = root.find("Resources");
  bool found = false;
  for (const Entry& entry : resources == nullptr ? std::vector<Entry>() : resources->entries) {
    const Node* type = entry.value->find("Type");
    const Node* properties = entry.value->find("Properties");
    if (!has_text(type, "AWS::ECS::TaskDefinition") || properties == nullptr) continue;
    found = read_task(yaml, *properties, entry.key.str(), out) || found;
  }
  return found;
}

}  // namespace kvbudget
