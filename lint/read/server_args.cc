// Test configurations that hold a server's arguments as one text or list: tests/evals of vLLM
// (`model_name`, `server_args`, `env`; 0.20) and the tests of vllm-ascend (2026), which have
// `test_cases` and `deployment` with `server_cmd`; `templates` with `server_cmd_template`, whose
// variables `config` sets; or `model_name` with keyword arguments of the engine in `serve`.

#include <array>
#include <string>

#include "lint/read/config_keys.h"
#include "lint/read/container.h"
#include "lint/read/manifest.h"
#include "lint/read/readers.h"
#include "lint/read/shell_reader.h"
#include "lint/read/shell_words.h"
#include "lint/read/vllm_names.h"

namespace kvbudget {
namespace {

/// Variables that the runner of vllm-ascend fills in from the node's entry in `config`.
struct NodeVariable {
  std::string_view key;
  std::string_view variable;
};
constexpr std::array<NodeVariable, 5> kNodeVariables = {
    NodeVariable{"dp_size", "DP_SIZE"}, NodeVariable{"tp_size", "TP_SIZE"},
    NodeVariable{"dp_rpc_port", "DP_RPC_PORT"}, NodeVariable{"dp_address", "DP_ADDRESS"},
    NodeVariable{"dp_size_local", "DP_SIZE_LOCAL"}};

EngineStart start_of(const YamlFile& yaml, std::string name, const Location& where) {
  EngineStart start;
  start.file = &yaml.file;
  start.kind = "test-config";
  start.name = std::move(name);
  start.where = where;
  return start;
}

/// Words of a list or of one text, with the variables of `scope` replaced.
void add_arguments(const Node& node, ShellScope& scope, std::vector<Word>& out) {
  if (node.is_scalar()) {
    for (Word& word : split_words(word_of(node))) out.push_back(std::move(word));
    return;
  }
  for (const NodePtr& item : node.items) {
    if (!item->is_scalar()) continue;
    const std::string_view text = item->scalar();
    if (text.empty() || text[0] != '$') {
      out.push_back(word_of(*item));
      continue;
    }
    ShellReader reader(item->text, scope);
    out.push_back(reader.read_value());
  }
}

void add_model(const Node* model, EngineStart& start) {
  if (model != nullptr && model->is_scalar()) start.argv.push_back(word_of(*model));
}

/// A start whose arguments are `arguments`, or the whole command; the scope holds what else is set
/// besides its environment.
void add_start(EngineStart start, const Node& arguments, ShellScope scope, FileContents& out) {
  // The runner takes a free port.
  const auto is_filled_in = [](const EnvVar& v) { return v.value.view() == "DEFAULT_PORT"; };
  std::erase_if(start.env, is_filled_in);
  if (arguments.is_scalar()) {
    const size_t before = out.starts.size();
    EngineStart command = start;
    command.argv.clear();
    add_script_starts(arguments.text, scope, command, out);
    if (out.starts.size() > before) return;
  }
  for (const EnvVar& variable : start.env) scope.inherit(variable);
  std::vector<Word> words;
  add_arguments(arguments, scope, words);
  if (!look_like_vllm_arguments(words) && words.size() < 2) return;
  for (Word& word : words) start.argv.push_back(std::move(word));
  out.starts.push_back(std::move(start));
}

void read_test_case(const YamlFile& yaml, const Node& root, const Node& test, FileContents& out) {
  const Node* arguments = test.find("server_cmd");
  if (arguments == nullptr) return;
  const Node* name = test.find("name");
  EngineStart start = start_of(yaml, name == nullptr ? "test" : name->text.str(), first_key(test));
  const Node* model = test.find("model");
  add_model(model == nullptr ? root.find("model") : model, start);
  add_variables(test.find("envs"), start.env);
  add_start(std::move(start), *arguments, ShellScope(), out);
}

/// The entry of `config` with the same `node_index`.
const Node* node_settings(const Node& root, const Node& part) {
  const Node* config = root.find("config");
  const Node* index = part.find("node_index");
  if (config == nullptr || index == nullptr) return nullptr;
  for (const NodePtr& node : config->items) {
    const Node* other = node->find("node_index");
    if (other != nullptr && other->scalar() == index->scalar()) return node.get();
  }
  return nullptr;
}

void read_template(const YamlFile& yaml, const Node& root, const Node& part, FileContents& out) {
  const Node* arguments = part.find("server_cmd_template");
  if (arguments == nullptr) return;
  const Node* index = part.find("node_index");
  EngineStart start =
      start_of(yaml, "node " + (index == nullptr ? "" : index->text.str()), first_key(part));
  add_model(root.find("model"), start);
  add_variables(part.find("envs"), start.env);
  ShellScope scope;
  if (const Node* settings = node_settings(root, part)) {
    for (const NodeVariable& pair : kNodeVariables) {
      const Node* value = settings->find(pair.key);
      if (value == nullptr || !value->is_scalar()) continue;
      const bool known = value->scalar().find('$') == std::string_view::npos;
      scope.inherit({SourceText(std::string(pair.variable)), value->text, known});
    }
  }
  add_start(std::move(start), *arguments, std::move(scope), out);
}

/// `model_name` beside `server_args` or `serve`.
bool read_evaluation(const YamlFile& yaml, const Node& root, FileContents& out) {
  const Entry* model = root.find_entry("model_name");
  const Node* arguments = root.find("server_args");
  const Node* serve = root.find("serve");
  if (model == nullptr || (arguments == nullptr && (serve == nullptr || !serve->is_mapping()))) {
    return false;
  }
  EngineStart start = start_of(yaml, "server", first_key(root));
  add_variables(root.find("env"), start.env);
  if (arguments != nullptr) {
    add_model(model->value.get(), start);
    add_start(std::move(start), *arguments, ShellScope(), out);
    return true;
  }
  start.serve = false;
  start.keys_are_arguments = true;
  start.config.push_back(renamed_key(*model, "model"));
  add_keys(*serve, start.config);
  out.starts.push_back(std::move(start));
  return true;
}

}  // namespace

bool read_server_args(const YamlFile& yaml, const Node& root, FileContents& out) {
  if (!yaml.limit.spend(64)) return false;
  if (read_evaluation(yaml, root, out)) return true;
  const size_t before = out.starts.size();
  for (const std::string_view key : {"test_cases", "deployment", "templates"}) {
    const Node* list = root.find(key);
    if (list == nullptr || !list->is_sequence() || !yaml.limit.spend_on(*list)) continue;
    for (const NodePtr& item : list->items) {
      key == "templates" ? read_template(yaml, root, *item, out)
                         : read_test_case(yaml, root, *item, out);
    }
  }
  return out.starts.size() > before;
}

}  // namespace kvbudget
