// `subprocess.Popen(["vllm", "serve", …])`, lists that a statement assigns or a function returns,
// and `os.system("vllm serve …")`. What later statements add to a list (`cmd += […]`, `append`,
// `extend`) belongs to it for certain where they stand in the same block as the list; elsewhere it
// may be left out.

#include "lint/read/python_commands.h"

#include <algorithm>
#include <utility>

#include "lint/read/invocation.h"
#include "lint/read/kubernetes_pod.h"
#include "lint/read/text.h"
#include "lint/read/vllm_names.h"

namespace kvbudget {
namespace {

constexpr size_t kMaxLists = 100;      // that speak of vLLM, of one script
constexpr size_t kMaxAdditions = 100;  // statements that add to one

/// subprocess, asyncio and os.
bool runs_program(std::string_view name) {
  return is_one_of(name, {"Popen", "call", "check_call", "check_output", "create_subprocess_exec",
                          "create_subprocess_shell", "run", "system"});
}

/// Words that nobody knows, of which a place in the script speaks.
Word unknown_at(const Location& where) {
  SourceText text = SourceText::empty_at(where.file, where.range);
  text.append_synthetic("${…}", where.range.begin);
  return {std::move(text), false};
}

void add_word(const Node& node, bool certain, std::vector<Word>& words) {
  if (!node.is_scalar()) {
    words.push_back(unknown_at(node.where));
    return;
  }
  words.push_back({node.text, certain && !has_placeholder(node.scalar())});
}

std::vector<Word> words_of(const Node& list, bool certain) {
  std::vector<Word> words;
  for (const NodePtr& item : list.items) add_word(*item, certain, words);
  return words;
}

class Commands {
 public:
  Commands(const PythonScript& script, const EngineStart& base, FileContents& out)
      : script_(script), text_(script.text().view()), base_(base), out_(out) {}

  void read() {
    for (const PythonAssignment& assignment : script_.assignments()) {
      if (!assignment.adds) assigned_list(assignment);
    }
    for (const PythonCall& call : script_.calls()) {
      if (runs_program(call.name)) argument(call);
    }
  }

 private:
  bool speaks_of_vllm(size_t begin) {
    constexpr size_t kFirstWords = 400;  // bytes: the program stands in front
    return contains_vllm(text_.substr(begin, kFirstWords)) && ++lists_ <= kMaxLists;
  }

  void assigned_list(const PythonAssignment& assignment) {
    const size_t begin = text_.find_first_not_of(" \t", assignment.value);
    if (begin == std::string_view::npos || text_[begin] != '[' || !speaks_of_vllm(begin)) return;
    const NodePtr list = script_.value_at(begin);
    if (!list->is_sequence()) return;
    std::vector<Word> words = words_of(*list, true);
    if (!assignment.name.empty()) add_later_words(assignment, words);
    start(words);
  }

  /// `name += …`, `name.append(…)` and `name.extend(…)` behind the assignment.
  void add_later_words(const PythonAssignment& to, std::vector<Word>& words) {
    struct Addition {
      size_t at;
      NodePtr value;
      bool one;
    };
    std::vector<Addition> additions;
    for (const PythonAssignment& other : script_.assignments()) {
      if (other.name != to.name || other.at <= to.at || additions.size() > kMaxAdditions) continue;
      if (!other.adds) break;  // another list, or another meaning
      additions.push_back({other.at, script_.value_at(other.value), false});
    }
    for (const PythonCall& call : script_.calls()) {
      if (call.object != to.name || call.at < to.at || additions.size() > kMaxAdditions) continue;
      if (!is_one_of(call.name, {"append", "extend", "insert"})) continue;
      const NodePtr arguments = script_.arguments_of(call);
      const bool plain = arguments != nullptr && arguments->items.size() == 1;
      additions.push_back({call.at, plain ? arguments->items[0] : nullptr, call.name == "append"});
    }
    std::sort(additions.begin(), additions.end(),
              [](const Addition& a, const Addition& b) { return a.at < b.at; });
    if (additions.size() > kMaxAdditions) {
      words.push_back(unknown_at(script_.text().substr(to.at, to.name.size()).location()));
    }
    for (const Addition& addition : additions) {
      const bool certain = same_block(to.at, addition.at);
      if (addition.value != nullptr && addition.one) {
        add_word(*addition.value, certain, words);
      } else if (addition.value != nullptr && addition.value->is_sequence()) {
        const std::vector<Word> more = words_of(*addition.value, certain);
        words.insert(words.end(), more.begin(), more.end());
      } else {
        words.push_back(unknown_at(script_.text().substr(addition.at, to.name.size()).location()));
      }
    }
  }

  size_t indent_of(size_t line) const {
    return std::min(text_.find_first_not_of(" \t", line), text_.size()) - line;
  }
  size_t line_of(size_t at) const {
    const size_t before = at == 0 ? std::string_view::npos : text_.rfind('\n', at - 1);
    return before == std::string_view::npos ? 0 : before + 1;
  }

  /// No line between the two stands further left, and the second begins a line of the same depth.
  bool same_block(size_t first, size_t second) const {
    const size_t own = line_of(first);
    const size_t indent = indent_of(own);
    if (second != line_of(second) + indent) return false;
    for (size_t line = text_.find('\n', own); line != std::string_view::npos && line < second;
         line = text_.find('\n', line + 1)) {
      const size_t begin = line + 1;
      const size_t first_char = begin + indent_of(begin);
      const bool empty = first_char >= text_.size() || text_[first_char] == '\n' ||
                         text_[first_char] == '\r' || text_[first_char] == '#';
      if (!empty && first_char - begin < indent) return false;
    }
    return true;
  }

  void argument(const PythonCall& call) {
    const size_t begin = text_.find_first_not_of(" \t\r\n", call.arguments);
    if (begin == std::string_view::npos || !speaks_of_vllm(begin)) return;
    const NodePtr arguments = script_.arguments_of(call);
    if (arguments == nullptr || arguments->items.empty()) return;
    const Node& first = *arguments->items[0];
    if (text_[begin] == '[' && first.is_sequence()) return start(words_of(first, true));
    const bool one_word = text_[begin] == '"' || text_[begin] == '\'' || text_[begin] == 'f';
    if (!first.is_scalar() || !one_word) return;
    if (call.name == "create_subprocess_exec") return start(words_of(*arguments, true));
    add(find_invocations_in_script(first.text, scope()));
  }

  ShellScope scope() const {
    ShellScope scope;
    for (const EnvVar& variable : base_.env) scope.inherit(variable);
    return scope;
  }

  void start(const std::vector<Word>& words) { add(find_invocations(words, scope())); }

  void add(std::vector<Invocation> invocations) {
    for (Invocation& invocation : invocations) {
      EngineStart start = start_of(std::move(invocation), base_.kind, base_.name);
      start.file = base_.file;
      if (!start.version) start.version = base_.version;
      if (!start.image) start.image = base_.image;
      if (!start.gpu.name && !start.gpu.count) start.gpu = base_.gpu;
      out_.starts.push_back(std::move(start));
    }
  }

  const PythonScript& script_;
  std::string_view text_;
  const EngineStart& base_;
  FileContents& out_;
  size_t lists_ = 0;
};

}  // namespace

void add_python_commands(const PythonScript& script, const EngineStart& base, FileContents& out) {
  Commands(script, base, out).read();
}

}  // namespace kvbudget
