// Pods as charts and operators make them of their values.
//
// A reader of such a format rebuilds the pod that would be deployed, as nodes that share the
// values' own text, and has it read like every other pod. Arguments are words (flag_words.h) that
// come behind the command. Text that the chart adds stands nowhere; it is placed at the value that
// makes the chart add it.
#pragma once

#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "lint/read/flag_words.h"
#include "lint/read/readers.h"

namespace kvbudget {

/// True for what Helm's `if` takes for true, as far as people write it: `true`, a collection that
/// is not empty.
bool is_true(const Node* value);
/// `false` is written.
bool is_false(const Node* value);

/// A scalar of text that the file does not hold, as if it stood at `where`.
NodePtr text_at(std::string_view text, const Location& where);
NodePtr scalar_of(SourceText text);
NodePtr list_of(std::vector<NodePtr> items);
/// Members without a value are left out.
NodePtr map_of(std::vector<std::pair<std::string_view, NodePtr>> members);
/// The value of a key, to be shared; null when absent or written empty.
NodePtr share(const Node* mapping, std::string_view key);
/// Two texts with `mark` between them: repository and tag. A missing one leaves the other.
NodePtr join(const NodePtr& front, char mark, const NodePtr& behind);

/// A member's text; empty when it is no scalar or absent.
std::string_view text_of(const Node* mapping, std::string_view key);

/// The affinity that requires nodes of these `nodeSelectorTerms`.
NodePtr affinity_of(NodePtr terms);
/// `resources` that limit one kind: `{limits: {RESOURCE: COUNT}}`.
NodePtr limits_of(std::string_view resource, NodePtr count);

/// The pod of one engine while a reader puts it together.
struct RenderedPod {
  EngineStart base;              ///< file, kind, name, place, replicas, nodes
  std::vector<NodePtr> command;  ///< program, and arguments where they are written as such
  bool is_written = false;       ///< the command stands in the file and is the engine's place
  std::vector<Word> args;        ///< behind them
  std::vector<NodePtr> env;      ///< items `{name, value}`
  NodePtr image;
  NodePtr resources;
  NodePtr node_selector;
  NodePtr affinity;

  RenderedPod(const YamlFile& yaml, std::string kind, std::string name, const Location& where);
  /// The command is `vllm serve MODEL`; a null model is one that the values do not say.
  void serve(const Node* model);
  /// The command is the api_server module, which takes the model by `--model`.
  void run_module();
  /// `--flag VALUE` because of `value`.
  void add_argument(std::string_view flag, const Node& value);
  void add_variable(std::string_view name, std::string_view value, const Location& where);
  void add_variable(std::string_view name, NodePtr value);
  void add_variables(const Node* list);
};

/// Reads the pod; its starts stand at `base.where` unless their command is written.
void read_rendered_pod(const YamlFile& yaml, RenderedPod pod, FileContents& out);

}  // namespace kvbudget
