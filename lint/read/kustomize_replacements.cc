// After kustomize 5.6, api/filters/replacement and api/internal/accumulator (vars). Paths are keys
// with dots between them; `[name=vllm]` is the item of a list with that member, a number its place,
// `*` every item.

#include "lint/read/kustomize_replacements.h"

#include <algorithm>
#include <charconv>
#include <functional>
#include <map>
#include <string>

#include "lint/read/container.h"
#include "lint/read/rendered.h"

namespace kvbudget {
namespace {

constexpr size_t kMaxSteps = 40;    // of a path
constexpr int kMaxDepth = 60;       // of a manifest
constexpr uint64_t kPathCost = 64;  // of following one

using Steps = std::vector<std::string>;
using Change = std::function<NodePtr(const NodePtr&)>;

/// Dots inside brackets and behind a backslash belong to the step.
Steps steps_of(std::string_view path) {
  Steps steps(1);
  int brackets = 0;
  for (size_t i = 0; i < path.size() && steps.size() <= kMaxSteps; ++i) {
    const char c = path[i];
    if (c == '[') ++brackets;
    if (c == ']') --brackets;
    if (c == '\\' && i + 1 < path.size() && path[i + 1] == '.') {
      steps.back() += path[++i];
    } else if (c == '.' && brackets == 0) {
      steps.emplace_back();
    } else {
      steps.back() += c;
    }
  }
  return steps;
}

bool fits(const Node& item, size_t place, std::string_view step) {
  if (step == "*") return true;
  if (step.starts_with('[') && step.ends_with(']')) {
    step = step.substr(1, step.size() - 2);
    const size_t equals = step.find('=');
    if (equals == std::string_view::npos) return false;
    const std::string_view value = step.substr(equals + 1);
    if (step.substr(0, equals).empty()) return item.scalar() == value;  // `[=--flag]`
    return text_of(&item, step.substr(0, equals)) == value;
  }
  size_t index = 0;
  const auto [end, error] = std::from_chars(step.data(), step.data() + step.size(), index);
  return error == std::errc() && end == step.data() + step.size() && index == place;
}

/// The tree with `change` made at every place that the path leads to.
NodePtr changed(const NodePtr& node, const Steps& steps, size_t at, const Change& change) {
  if (at == steps.size()) return change(node);
  auto copy = std::make_shared<Node>(*node);
  for (Entry& entry : copy->entries) {
    if (entry.key.view() == steps[at]) entry.value = changed(entry.value, steps, at + 1, change);
  }
  for (size_t i = 0; i < copy->items.size(); ++i) {
    NodePtr& item = copy->items[i];
    if (fits(*item, i, steps[at])) item = changed(item, steps, at + 1, change);
  }
  return copy;
}

NodePtr field(const NodePtr& manifest, std::string_view path) {
  NodePtr found;
  changed(manifest, steps_of(path), 0, [&](const NodePtr& node) {
    if (found == nullptr && node->is_scalar()) found = node;
    return node;
  });
  return found;
}

/// Part `index` of a text between delimiters: where it begins and ends.
std::optional<std::pair<size_t, size_t>> part_of(std::string_view text, const Node* options) {
  const std::string_view delimiter = text_of(options, "delimiter");
  if (delimiter.empty()) return std::pair{size_t{0}, text.size()};
  const auto index = number_of(options->find("index"));
  size_t begin = 0;
  for (uint32_t left = index ? index->value : 0; left > 0; --left) {
    const size_t next = text.find(delimiter, begin);
    if (next == std::string_view::npos) return std::nullopt;
    begin = next + delimiter.size();
  }
  return std::pair{begin, std::min(text.find(delimiter, begin), text.size())};
}

NodePtr with_part(const NodePtr& old, const NodePtr& value, const Node* options) {
  if (!old->is_scalar()) return value;
  const auto part = part_of(old->scalar(), options);
  if (!part) return old;
  if (part->first == 0 && part->second == old->text.size()) return value;
  SourceText text = old->text.substr(0, part->first);
  text.append(value->text);
  text.append(old->text.substr(part->second));
  return scalar_of(std::move(text));
}

/// The first object that `source` describes has the field.
NodePtr source_value(const Manifests& manifests, const Node& source, std::string_view path,
                     WorkLimit& limit) {
  for (const NodePtr& manifest : manifests) {
    if (!is_selected(*manifest, source) || !limit.spend_on(*manifest)) continue;
    NodePtr value = field(manifest, path.empty() ? "metadata.name" : path);
    if (value == nullptr) return nullptr;
    const Node* options = source.find("options");
    if (options == nullptr) return value;
    const auto part = part_of(value->scalar(), options);
    return part ? scalar_of(value->text.substr(part->first, part->second - part->first)) : nullptr;
  }
  return nullptr;
}

using Values = std::map<std::string, NodePtr, std::less<>>;

SourceText filled(const SourceText& text, const Values& values) {
  const std::string_view view = text.view();
  SourceText result = text.substr(0, 0);
  size_t done = 0;
  for (size_t i = view.find("$("); i != std::string_view::npos; i = view.find("$(", i + 1)) {
    const size_t close = view.find(')', i);
    if (close == std::string_view::npos) break;
    const auto value = values.find(view.substr(i + 2, close - i - 2));
    if (value == values.end() || i < done) continue;
    result.append(text.substr(done, i - done));
    result.append(value->second->text);
    done = close + 1;
  }
  result.append(text.substr(done));
  return result;
}

NodePtr with_values(const NodePtr& node, const Values& values, int depth) {
  if (depth > kMaxDepth) return node;
  auto copy = std::make_shared<Node>(*node);
  if (copy->is_scalar() && copy->scalar().find("$(") != std::string_view::npos) {
    copy->text = filled(copy->text, values);
  }
  for (NodePtr& item : copy->items) item = with_values(item, values, depth + 1);
  for (Entry& entry : copy->entries) entry.value = with_values(entry.value, values, depth + 1);
  return copy;
}

}  // namespace

void replace_fields(Manifests& manifests, const Node& replacement, WorkLimit& limit) {
  const Node* source = replacement.find("source");
  const Node* targets = replacement.find("targets");
  if (source == nullptr || targets == nullptr) return;
  const NodePtr value = source_value(manifests, *source, text_of(source, "fieldPath"), limit);
  if (value == nullptr) return;
  for (const NodePtr& target : targets->items) {
    const Node* select = target->find("select");
    const Node* paths = target->find("fieldPaths");
    if (select == nullptr || paths == nullptr) continue;
    for (NodePtr& manifest : manifests) {
      if (!is_selected(*manifest, *select)) continue;
      for (const NodePtr& path : paths->items) {
        if (!limit.spend(kPathCost) || !limit.spend_on(*manifest)) return;
        manifest = changed(manifest, steps_of(path->scalar()), 0, [&](const NodePtr& old) {
          return with_part(old, value, target->find("options"));
        });
      }
    }
  }
}

void replace_variables(Manifests& manifests, const Node& variables, WorkLimit& limit) {
  Values values;
  for (const NodePtr& variable : variables.items) {
    const Node* object = variable->find("objref");
    const std::string_view name = text_of(variable.get(), "name");
    if (object == nullptr || name.empty()) continue;
    const std::string_view path = text_of(variable->find("fieldref"), "fieldpath");
    if (NodePtr value = source_value(manifests, *object, path, limit)) {
      values.emplace(std::string(name), std::move(value));
    }
  }
  if (values.empty()) return;
  for (NodePtr& manifest : manifests) {
    if (limit.spend_on(*manifest)) manifest = with_values(manifest, values, 0);
  }
}

}  // namespace kvbudget
