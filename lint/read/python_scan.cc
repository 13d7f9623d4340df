// Finds in one pass the calls of a Python script and all that gives names a meaning. A name is
// taken for what one assignment says only if nothing else in the script binds it, in whatever
// function: parameters, targets of loops, imports and `as` make it unknown.

#include <algorithm>
#include <array>

#include "lint/read/python_script.h"
#include "lint/read/python_text.h"
#include "lint/read/shell_reader.h"
#include "lint/read/text.h"

namespace kvbudget {
namespace {

constexpr size_t kMaxCalls = 20'000;  // larger scripts are no deployments
constexpr size_t kMaxHeader = 2'048;  // bytes of one list of parameters

/// Methods that change the list or mapping they are called on.
bool changes(std::string_view method) {
  static constexpr std::array<std::string_view, 9> kMethods = {
      "append", "clear", "extend", "insert", "pop", "remove", "reverse", "setdefault", "update"};
  return std::find(kMethods.begin(), kMethods.end(), method) != kMethods.end();
}

/// `class LLM(Base)` makes nothing.
bool is_definition(std::string_view text, size_t name) {
  const std::string_view before = trimmed(text.substr(0, name), " \t");
  return before.ends_with("class") || before.ends_with("def");
}

size_t name_end(std::string_view text, size_t i) {
  while (i < text.size() && is_name_char(text[i])) ++i;
  return i;
}

/// Behind the bracket that closes the one at `i`.
size_t behind_brackets(std::string_view text, size_t i) {
  text = text.substr(0, i + kMaxHeader);
  for (++i; i < text.size() && !is_any_of(text[i], ")]}");) {
    i = python_expression_end(text, i);
    if (text.substr(i, 1) == ",") ++i;
  }
  return std::min(i + 1, text.size());
}

}  // namespace

void PythonScript::scan() {
  size_t depth = 0;
  bool at_line_start = true;
  for (size_t i = 0; i < text_.size();) {
    const char c = text_[i];
    if (is_name_start(c)) {
      i = scan_name(i, depth, at_line_start);
      at_line_start = false;
    } else if (is_any_of(c, "\"'")) {
      i = skip_python_string(text_.view(), i);
    } else if (c == '#') {
      i = std::min(text_.view().find('\n', i), text_.size());
    } else {
      if (is_any_of(c, "([{")) ++depth;
      if (is_any_of(c, ")]}") && depth > 0) --depth;
      if (!is_python_blank(c)) at_line_start = false;
      // A statement may stand behind `if x:`, too.
      if (is_any_of(c, "\n;:") && depth == 0) at_line_start = true;
      ++i;
    }
  }
  for (const PythonCall& call : calls_) {
    if (call.name == "bind") scan_bound(call);
  }
}

/// A dotted name: the function of a call, or what a statement assigns to.
size_t PythonScript::scan_name(size_t i, size_t depth, bool at_line_start) {
  const std::string_view text = text_.view();
  const size_t begin = i;
  size_t last = i;
  for (; i < text.size() && (is_name_char(text[i]) || text[i] == '.'); ++i) {
    if (text[i] == '.') last = i + 1;
  }
  const std::string_view word = text.substr(begin, i - begin);
  const std::string_view next = text.substr(skip_python_blanks(text, i), 2);
  if (text.substr(i, 1) == "(") {
    if (calls_.size() < kMaxCalls && !is_definition(text, begin)) {
      const std::string object(text.substr(begin, last > begin ? last - 1 - begin : 0));
      calls_.push_back({std::string(text.substr(last, i - last)), begin, i + 1, object});
      if (changes(calls_.back().name)) changed_.insert(object);
    }
  } else if (at_line_start && depth == 0) {
    scan_statement(begin, i);
  } else if (word == "gpu" && next.starts_with('=') && next != "==") {
    gpus_.push_back(skip_python_blanks(text, i) + 1);
  }
  if (next == ":=") rebound_.insert(std::string(word));
  scan_keyword(word, i);
  return i;
}

void PythonScript::scan_statement(size_t begin, size_t end) {
  const std::string_view text = text_.view();
  const std::string_view word = text.substr(begin, end - begin);
  const size_t behind = skip_python_blanks(text, end);
  const std::string_view next = text.substr(behind, 1);
  if (word == "return") {
    assigned_.push_back({"", begin, end, false});
  } else if (word.find('.') != std::string_view::npos) {
    if (!word.ends_with("environ") || next != "[") return;
    const size_t value = skip_python_blanks(text, behind_brackets(text, behind));
    if (text.substr(value, 1) == "=") environment_.push_back(behind + 1);
  } else if (next == "[") {
    changed_.insert(std::string(word));
  } else if (next == ",") {
    rebind(begin, std::min(text.find_first_of("=\n", behind), text.size()));
  } else {
    scan_assignment(begin, end);
  }
}

/// Words that bind names in ways of their own.
void PythonScript::scan_keyword(std::string_view word, size_t behind) {
  if (headers_ > kMaxHeaders) return;
  const std::string_view text = text_.view();
  const std::string_view header = text.substr(behind, kMaxHeader);
  const size_t line_end = behind + std::min(header.find('\n'), header.size());
  const size_t next = skip_python_blanks(text, behind);
  if (word == "def") {
    const size_t open = text.substr(0, line_end).find('(', next);
    if (open != std::string_view::npos) rebind(open, behind_brackets(text, open));
  } else if (word == "lambda") {
    rebind(next, std::min(text.find(':', next), line_end));
  } else if (word == "for") {
    rebind(next, std::min(text.substr(0, line_end).find(" in ", next), line_end));
  } else if (word == "as") {
    rebind(next, name_end(text, next));
  } else if (word == "import") {
    rebind(next, text.substr(next, 1) == "(" ? behind_brackets(text, next) : line_end);
  }
}

/// All names between two places, also those of defaults and annotations: one too many does no harm.
void PythonScript::rebind(size_t begin, size_t end) {
  headers_ += std::max(begin, end) - begin;
  if (headers_ > kMaxHeaders) return;
  for (size_t i = begin; i < end;) {
    const size_t stop = is_name_start(text_[i]) ? name_end(text_.view(), i) : i;
    if (stop > i) rebound_.insert(text_.substr(i, stop - i).str());
    i = std::max(stop, i + 1);
  }
}

/// `name = …` and `name: type = …`; `name += …` makes a name stand for several expressions.
void PythonScript::scan_assignment(size_t begin, size_t end) {
  const std::string_view text = text_.view();
  const std::string name(text.substr(begin, end - begin));
  size_t behind = skip_python_blanks(text, end);
  if (text.substr(behind, 1) == ":") {
    behind = std::min(text.find_first_of("=\n", behind), text.size());
  }
  const std::string_view op = text.substr(behind, 2);
  if (op.substr(0, 1) == "=" && op != "==") {
    assignments_[name].push_back(behind + 1);
    assigned_.push_back({name, begin, behind + 1, false});
  }
  if (op.size() == 2 && op[1] == '=' && is_any_of(op[0], "+-*/|")) {
    assignments_[name].resize(2);
    assigned_.push_back({name, begin, behind + 2, true});
  }
}

void PythonScript::scan_bound(const PythonCall& call) {
  const std::string_view text = text_.view();
  for (size_t i = call.arguments; i < text.size();) {
    i = skip_python_blanks(text, i);
    const size_t end = name_end(text, i);
    const size_t equals = skip_python_blanks(text, end);
    const bool keyword = end > i && text.substr(equals, 1) == "=";
    if (keyword) bound_.emplace(std::string(text.substr(i, end - i)), equals + 1);
    i = python_expression_end(text, keyword ? equals + 1 : i);
    if (text.substr(i, 1) != ",") return;
    ++i;
  }
}

}  // namespace kvbudget
