// Several manifests in one: `kind: List`, and OpenShift's Template, whose parameters stand in the
// objects as ${NAME} (or ${{NAME}}, which is no text then). A parameter with a value has it unless
// somebody says otherwise, as ${X:-value} in a shell does. Source: OpenShift 4.18, "Using
// templates".

#include <map>
#include <string>

#include "lint/read/readers.h"

namespace kvbudget {
namespace {

constexpr int kMaxDepth = 60;

class Parameters {
 public:
  explicit Parameters(const Node* list) {
    if (list == nullptr) return;
    for (const NodePtr& item : list->items) {
      const Node* name = item->find("name");
      const Node* value = item->find("value");
      if (name == nullptr || value == nullptr || !value->is_scalar()) continue;
      values_.emplace(std::string(name->scalar()), &value->text);
    }
  }

  bool empty() const { return values_.empty(); }

  /// A copy in which every parameter that is known is its value.
  NodePtr fill_in(const NodePtr& node, int depth = 0) const {
    if (depth > kMaxDepth) return node;
    auto copy = std::make_shared<Node>(*node);
    if (copy->is_scalar()) copy->text = filled(copy->text);
    for (NodePtr& item : copy->items) item = fill_in(item, depth + 1);
    for (Entry& entry : copy->entries) entry.value = fill_in(entry.value, depth + 1);
    return copy;
  }

 private:
  SourceText filled(const SourceText& text) const {
    const std::string_view view = text.view();
    if (view.find("${") == std::string_view::npos) return text;
    SourceText result = SourceText::empty_at(text.file(), text.location().range);
    size_t done = 0;
    for (size_t i = view.find("${"); i != std::string_view::npos; i = view.find("${", i + 1)) {
      const size_t braces = view.substr(i, 3) == "${{" ? 2 : 1;
      const size_t close = view.find('}', i);
      if (close == std::string_view::npos) break;
      const auto value = values_.find(view.substr(i + 1 + braces, close - i - 1 - braces));
      if (value == values_.end()) continue;
      result.append(text.substr(done, i - done));
      result.append(*value->second);
      done = close + braces;
    }
    result.append(text.substr(done));
    return result;
  }

  std::map<std::string, const SourceText*, std::less<>> values_;
};

}  // namespace

bool read_manifest_list(const YamlFile& yaml, const Node& root, FileContents& out) {
  const Node* kind = root.find("kind");
  if (kind == nullptr || root.find("apiVersion") == nullptr) return false;
  const bool is_template = kind->scalar() == "Template";
  if (!is_template && kind->scalar() != "List") return false;
  const Node* list = root.find(is_template ? "objects" : "items");
  if (list == nullptr) return !is_template;
  const Parameters parameters(is_template ? root.find("parameters") : nullptr);
  std::vector<NodePtr> items = list->items;
  for (NodePtr& item : items) {
    if (!parameters.empty() && yaml.limit.spend_on(*item)) item = parameters.fill_in(item);
  }
  const YamlFile inner{yaml.file, items, yaml.limit};
  for (const NodePtr& item : items) {
    const Node* own = item->find("kind");
    const bool list_again =
        own == nullptr || own->scalar() == "List" || own->scalar() == "Template";
    if (!list_again && yaml.limit.spend(64 * items.size())) read_yaml_document(inner, *item, out);
  }
  return true;
}

}  // namespace kvbudget
