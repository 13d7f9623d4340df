#include <algorithm>

#include "lint/read/kubernetes_pod.h"
#include "lint/read/shell_reader.h"

namespace kvbudget {
namespace {

constexpr size_t kMaxVariables = 2000;  // each may refer to all before it

/// `valueFrom` a ConfigMap of the same file; everything else is decided by the cluster.
EnvVar value_from(const Node& name, const Node& source, const ConfigMaps& configs) {
  EnvVar variable{name.text, {}, false};
  const Node* map = source.at({"configMapKeyRef", "name"});
  const Node* key = source.at({"configMapKeyRef", "key"});
  if (map == nullptr || key == nullptr) return variable;
  const Node* data = configs.find(map->scalar());
  const Node* value = data == nullptr ? nullptr : data->find(key->scalar());
  if (value == nullptr || !value->is_scalar()) return variable;
  variable.value = value->text;
  variable.known = word_of(*value).known;
  return variable;
}

void add_all_from(const Node& list, const ConfigMaps& configs, std::vector<EnvVar>& out) {
  for (const NodePtr& source : list.items) {
    const Node* map = source->at({"configMapRef", "name"});
    const Node* data = map == nullptr ? nullptr : configs.find(map->scalar());
    if (data == nullptr) continue;
    for (const Entry& entry : data->entries) {
      if (!entry.value->is_scalar()) continue;
      out.push_back({entry.key, entry.value->text, word_of(*entry.value).known});
    }
  }
}

const EnvVar* find_variable(const std::vector<EnvVar>& env, std::string_view name) {
  const auto found = std::find_if(env.rbegin(), env.rend(), [&](const EnvVar& variable) {
    return variable.name.view() == name;
  });
  return found == env.rend() ? nullptr : &*found;
}

}  // namespace

void add_environment(const Node& container, const ConfigMaps& configs, std::vector<EnvVar>& env) {
  if (const Node* list = container.find("envFrom")) add_all_from(*list, configs, env);
  if (const Node* list = container.find("env")) add_variable_list(*list, configs, env);
}

void add_variable_list(const Node& list, const ConfigMaps& configs, std::vector<EnvVar>& env) {
  for (const NodePtr& item : list.items) {
    if (env.size() >= kMaxVariables) break;
    const Node* name = item->find("name");
    if (name == nullptr || !name->is_scalar()) continue;
    const Node* value = item->find("value");
    if (const Node* source = item->find("valueFrom")) {
      env.push_back(value_from(*name, *source, configs));
    } else if (value != nullptr && value->is_scalar()) {
      Word text = expand_references(word_of(*value), env);
      env.push_back({name->text, std::move(text.text), text.known});
    } else {
      env.push_back({name->text, SourceText::empty_at(name->text.file(), name->where.range), true});
    }
  }
}

bool has_placeholder(std::string_view text) {
  for (size_t i = text.find('$'); i != std::string_view::npos; i = text.find('$', i + 1)) {
    if (i + 1 < text.size() && (text[i + 1] == '{' || is_name_start(text[i + 1]))) return true;
  }
  return false;
}

Word expand_references(const Word& word, const std::vector<EnvVar>& env) {
  const std::string_view text = word.text.view();
  Word result{SourceText::empty_at(word.text.file(), word.text.location().range), word.known};
  size_t done = 0;
  for (size_t i = text.find("$("); i != std::string_view::npos; i = text.find("$(", i)) {
    const size_t close = text.find(')', i);
    if (close == std::string_view::npos) break;
    result.text.append(word.text.substr(done, i - done));
    if (i > done && text[i - 1] == '$') {  // `$$(X)` is the text `$(X)`
      done = i + 1;
      i += 2;
      continue;
    }
    const EnvVar* variable = find_variable(env, text.substr(i + 2, close - i - 2));
    const bool known = variable != nullptr && variable->known;
    result.text.append(known ? variable->value : word.text.substr(i, close + 1 - i));
    result.known = result.known && known;
    done = close + 1;
    i = done;
  }
  result.text.append(word.text.substr(done));
  result.known = result.known && !has_placeholder(result.text.view());
  return result;
}

}  // namespace kvbudget
