#include "lint/read/rendered.h"

#include "lint/read/container.h"
#include "lint/read/kubernetes_pod.h"

namespace kvbudget {
namespace {

bool is_written(const Node& value) {
  return value.kind != Node::Kind::kNull && !(value.is_scalar() && value.text.empty());
}

}  // namespace

bool is_true(const Node* value) {
  if (value == nullptr) return false;
  if (!value->is_scalar()) return !value->items.empty() || !value->entries.empty();
  return truth_of(value).value_or(false);
}

bool is_false(const Node* value) { return !truth_of(value).value_or(true); }

NodePtr scalar_of(SourceText text) {
  auto node = std::make_shared<Node>();
  node->kind = Node::Kind::kScalar;
  node->style = Node::Style::kDoubleQuoted;
  node->where = text.location();
  node->text = std::move(text);
  return node;
}

NodePtr text_at(std::string_view text, const Location& where) {
  return scalar_of(word_over(text, SourceText::empty_at(where.file, where.range)).text);
}

NodePtr list_of(std::vector<NodePtr> items) {
  auto node = std::make_shared<Node>();
  node->kind = Node::Kind::kSequence;
  node->items = std::move(items);
  if (!node->items.empty()) node->where = node->items.front()->where;
  return node;
}

NodePtr map_of(std::vector<std::pair<std::string_view, NodePtr>> members) {
  auto node = std::make_shared<Node>();
  node->kind = Node::Kind::kMapping;
  for (auto& [key, value] : members) {
    if (value == nullptr) continue;
    if (!node->where) node->where = value->where;
    node->entries.push_back({SourceText(std::string(key)), std::move(value)});
  }
  return node;
}

NodePtr share(const Node* mapping, std::string_view key) {
  const Entry* entry = mapping == nullptr ? nullptr : mapping->find_entry(key);
  return entry == nullptr || !is_written(*entry->value) ? nullptr : entry->value;
}

NodePtr join(const NodePtr& front, char mark, const NodePtr& behind) {
  if (front == nullptr || behind == nullptr) return front == nullptr ? behind : front;
  SourceText text = front->text;
  text.append_synthetic(std::string_view(&mark, 1), text.offset(text.size()));
  text.append(behind->text);
  return scalar_of(std::move(text));
}

std::string_view text_of(const Node* mapping, std::string_view key) {
  const Node* value = mapping == nullptr ? nullptr : mapping->find(key);
  return value == nullptr ? std::string_view() : value->scalar();
}

NodePtr affinity_of(NodePtr terms) {
  if (terms == nullptr) return nullptr;
  return map_of({{"nodeAffinity", map_of({{"requiredDuringSchedulingIgnoredDuringExecution",
                                           map_of({{"nodeSelectorTerms", std::move(terms)}})}})}});
}

NodePtr limits_of(std::string_view resource, NodePtr count) {
  if (count == nullptr) return nullptr;
  return map_of({{"limits", map_of({{resource, std::move(count)}})}});
}

RenderedPod::RenderedPod(const YamlFile& yaml, std::string kind, std::string name,
                         const Location& where) {
  base.file = &yaml.file;
  base.kind = std::move(kind);
  base.name = std::move(name);
  base.where = where;
  base.serves_traffic = true;  // every chart brings a service and probes
}

void RenderedPod::serve(const Node* model) {
  command = {text_at("vllm", base.where), text_at("serve", base.where)};
  if (model != nullptr) args.insert(args.begin(), word_of(*model));
}

void RenderedPod::run_module() {
  command = {text_at("python3", base.where), text_at("-m", base.where),
             text_at("vllm.entrypoints.openai.api_server", base.where)};
}

void RenderedPod::add_argument(std::string_view flag, const Node& value) {
  args.push_back(word_over(flag, value.text));
  args.push_back(word_of(value));
}

void RenderedPod::add_variable(std::string_view name, std::string_view value,
                               const Location& where) {
  add_variable(name, text_at(value, where));
}

void RenderedPod::add_variable(std::string_view name, NodePtr value) {
  NodePtr text = text_at(name, value->where);
  env.push_back(map_of({{"name", std::move(text)}, {"value", std::move(value)}}));
}

void RenderedPod::add_variables(const Node* list) {
  if (list != nullptr) env.insert(env.end(), list->items.begin(), list->items.end());
}

void read_rendered_pod(const YamlFile& yaml, RenderedPod pod, FileContents& out) {
  NodePtr container = map_of({{"image", std::move(pod.image)},
                              {"command", list_of(std::move(pod.command))},
                              {"env", list_of(std::move(pod.env))},
                              {"resources", std::move(pod.resources)}});
  const NodePtr spec = map_of({{"nodeSelector", std::move(pod.node_selector)},
                               {"affinity", std::move(pod.affinity)},
                               {"containers", list_of({std::move(container)})}});
  if (!yaml.limit.spend(kRootBytes * yaml.roots.size())) return;
  const size_t before = out.starts.size();
  read_pod(*spec, ConfigMaps(yaml), pod.base, out);
  for (size_t i = before; i < out.starts.size(); ++i) {
    EngineStart& start = out.starts[i];
    if (!pod.is_written) start.where = pod.base.where;
    // Probes, volumes and limits are the chart's to add: what is missing here may be there.
    start.around = pod.base.around;
    for (const Word& word : pod.args) start.argv.push_back(expand_references(word, start.env));
  }
}

}  // namespace kvbudget
