// The first half finds calls and assignments in one pass, the second reads expressions. An
// expression that is more than a literal, a name or a known call is not understood and unknown.

#include "lint/read/python_script.h"

#include <algorithm>
#include <array>
#include <memory>

#include "lint/read/kubernetes_pod.h"
#include "lint/read/python_text.h"
#include "lint/read/shell_reader.h"

namespace kvbudget {
namespace {

constexpr int kMaxDepth = 24;           // of expressions and of names that stand for others
constexpr size_t kMaxSteps = 100'000;   // values looked at for one call
constexpr size_t kMaxCalls = 20'000;    // larger scripts are no deployments
constexpr size_t kMaxScript = 1 << 20;  // bytes

bool is_any_of(char c, std::string_view set) { return set.find(c) != std::string_view::npos; }

/// `int(x)` and its like hand a plain value on.
bool converts(std::string_view name) { return name == "int" || name == "float" || name == "str"; }

bool reads_environment(std::string_view name) {
  return name == "getenv" || name.ends_with(".getenv") || name.ends_with("environ.get");
}

/// Classes begin with a capital; called with keywords they are the mapping of them.
bool makes_mapping(std::string_view name) {
  const size_t dot = name.rfind('.');
  const std::string_view last = dot == std::string_view::npos ? name : name.substr(dot + 1);
  return name == "dict" || (!last.empty() && last[0] >= 'A' && last[0] <= 'Z');
}

NodePtr scalar(SourceText text, Node::Style style) {
  auto node = std::make_shared<Node>();
  node->kind = Node::Kind::kScalar;
  node->style = style;
  node->where = text.location();
  node->text = std::move(text);
  return node;
}

}  // namespace

PythonScript::PythonScript(const SourceText& text, const std::vector<EnvVar>& env) : text_(text) {
  for (const EnvVar& variable : env) env_[variable.name.str()] = &variable;
  if (text_.size() <= kMaxScript) scan();
}

NodePtr PythonScript::arguments_of(const PythonCall& call) const {
  size_t steps = kMaxSteps;
  Cursor cursor{call.arguments, 0, &steps};
  NodePtr result = arguments(cursor);
  return steps == 0 ? nullptr : result;
}

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
      if (c == '\n' && depth == 0) at_line_start = true;
      ++i;
    }
  }
  for (const PythonCall& call : calls_) {
    if (call.name == "bind") scan_bound(call);
  }
}

/// A dotted name: the function of a call, or what a statement assigns to.
size_t PythonScript::scan_name(size_t i, size_t depth, bool at_line_start) {
  const size_t begin = i;
  size_t last = i;
  for (; i < text_.size() && (is_name_char(text_[i]) || text_[i] == '.'); ++i) {
    if (text_[i] == '.') last = i + 1;
  }
  if (i < text_.size() && text_[i] == '(') {
    if (calls_.size() < kMaxCalls) {
      calls_.push_back({text_.substr(last, i - last).str(), begin, i + 1});
    }
  } else if (depth == 0 && at_line_start && last == begin) {
    scan_assignment(text_.substr(begin, i - begin).str(), skip_python_blanks(text_.view(), i));
  }
  return i;
}

/// `name = …` and `name: type = …`; `name += …` makes a name stand for several expressions.
void PythonScript::scan_assignment(const std::string& name, size_t behind) {
  const std::string_view text = text_.view();
  if (text.substr(behind, 1) == ":")
    behind = std::min(text.find_first_of("=\n", behind), text.size());
  const std::string_view op = text.substr(behind, 2);
  if (op.substr(0, 1) == "=" && op != "==") assignments_[name].push_back(behind + 1);
  if (op.size() == 2 && op[1] == '=' && is_any_of(op[0], "+-*/|")) assignments_[name].resize(2);
}

void PythonScript::scan_bound(const PythonCall& call) {
  const std::string_view text = text_.view();
  for (size_t i = call.arguments; i < text.size();) {
    i = skip_python_blanks(text, i);
    size_t end = i;
    while (end < text.size() && is_name_char(text[end])) ++end;
    const size_t equals = skip_python_blanks(text, end);
    const bool keyword = end > i && text.substr(equals, 1) == "=";
    if (keyword) bound_.emplace(std::string(text.substr(i, end - i)), equals + 1);
    i = python_expression_end(text, keyword ? equals + 1 : i);
    if (text.substr(i, 1) != ",") return;
    ++i;
  }
}

void PythonScript::skip_blanks(Cursor& cursor) const {
  cursor.at = skip_python_blanks(text_.view(), cursor.at);
}

NodePtr PythonScript::unknown(size_t begin, size_t end) const {
  end = std::min(end, text_.view().find('\n', begin));
  while (end > begin && is_python_blank(text_[end - 1])) --end;
  const size_t last = std::max<size_t>(text_.size(), 1) - 1;  // the marks stand on bytes, too
  const uint32_t first_byte = text_.offset(std::min(begin, last));
  const uint32_t last_byte = text_.offset(std::min(std::max(end, begin + 1) - 1, last));
  SourceText text = SourceText::empty_at(text_.file(), {first_byte, first_byte});
  text.append_synthetic("${", first_byte);
  text.append(text_.substr(begin, end - begin));
  text.append_synthetic("}", last_byte);
  return scalar(std::move(text), Node::Style::kDoubleQuoted);
}

/// The expression at the cursor, which ends up behind it.
NodePtr PythonScript::value(Cursor& cursor) const {
  skip_blanks(cursor);
  const size_t begin = cursor.at;
  NodePtr result;
  if (cursor.depth<kMaxDepth&& * cursor.steps> 0) {
    --*cursor.steps;
    ++cursor.depth;
    result = primary(cursor);
    --cursor.depth;
    const size_t next = std::min(text_.view().find_first_not_of(" \t", cursor.at), text_.size());
    if (next == text_.size() || is_any_of(text_[next], ",)]}:#\r\n")) return result;
  }
  // Too deep, or an operator or an attribute behind it: more than this reads.
  cursor.at = python_expression_end(text_.view(), begin);
  return unknown(begin, cursor.at);
}

NodePtr PythonScript::primary(Cursor& cursor) const {
  if (cursor.at >= text_.size()) return unknown(cursor.at, cursor.at);
  const char c = text_[cursor.at];
  if (is_any_of(c, "\"'")) return string_literal(cursor);
  if (is_name_start(c)) return named(cursor);
  if (!is_any_of(c, "{[(")) return number(cursor);
  ++cursor.at;
  return collection(cursor, c == '{' ? '}' : c == '[' ? ']' : ')');
}

NodePtr PythonScript::number(Cursor& cursor) const {
  const size_t begin = cursor.at;
  SourceText digits = text_.substr(begin, 0);
  if (is_at(cursor, '-')) digits.append('-', text_.offset(cursor.at++));
  for (; cursor.at < text_.size() && is_any_of(text_[cursor.at], "0123456789._eE"); ++cursor.at) {
    if (!is_at(cursor, '_')) digits.append(text_[cursor.at], text_.offset(cursor.at));
  }
  if (cursor.at == begin) return unknown(begin, begin);
  return scalar(std::move(digits), Node::Style::kPlain);
}

NodePtr PythonScript::string_literal(Cursor& cursor) const {
  const size_t begin = cursor.at;
  cursor.at = skip_python_string(text_.view(), begin);
  const bool triple = text_.view().substr(begin, 3) == std::string(3, text_[begin]);
  const size_t quotes = triple ? 3 : 1;
  if (cursor.at < begin + 2 * quotes) return unknown(begin, cursor.at);
  SourceText inner = text_.substr(begin + quotes, cursor.at - begin - 2 * quotes);
  if (inner.view().find('\\') != std::string_view::npos) return unknown(begin, cursor.at);
  return scalar(std::move(inner), Node::Style::kDoubleQuoted);
}

/// Behind the opening bracket: a dict, a list, a tuple, or one value in brackets.
NodePtr PythonScript::collection(Cursor& cursor, char closer) const {
  const size_t begin = cursor.at - 1;
  auto node = std::make_shared<Node>();
  node->kind = closer == '}' ? Node::Kind::kMapping : Node::Kind::kSequence;
  for (skip_blanks(cursor); cursor.at < text_.size() && !is_at(cursor, closer);
       skip_blanks(cursor)) {
    NodePtr item = value(cursor);
    skip_blanks(cursor);
    if (closer == '}' && is_at(cursor, ':')) {
      ++cursor.at;
      node->entries.push_back({item->text, value(cursor)});
    } else {
      node->items.push_back(std::move(item));
    }
    skip_blanks(cursor);
    if (!is_at(cursor, ',')) break;
    ++cursor.at;
  }
  if (is_at(cursor, closer)) ++cursor.at;
  if (closer == ')' && node->items.size() == 1) return node->items.front();
  node->where = text_.substr(begin, cursor.at - begin).location();
  return node;
}

NodePtr PythonScript::named(Cursor& cursor) const {
  const size_t begin = cursor.at;
  while (cursor.at < text_.size() && (is_name_char(text_[cursor.at]) || is_at(cursor, '.'))) {
    ++cursor.at;
  }
  const SourceText word = text_.substr(begin, cursor.at - begin);
  const std::string name = word.str();
  if (is_at(cursor, '"') || is_at(cursor, '\'')) {  // a prefix: raw text is what it looks like
    NodePtr literal = string_literal(cursor);
    return name == "r" || name == "u" ? literal : unknown(begin, cursor.at);
  }
  if (is_at(cursor, '(')) {
    ++cursor.at;
    return call(name, begin, cursor);
  }
  if (is_at(cursor, '[') && name.ends_with("environ")) {
    ++cursor.at;
    return environment(cursor, ']');
  }
  if (name == "True" || name == "False") {
    SourceText text = word.substr(0, 0);
    text.append_synthetic(name == "True" ? "true" : "false", word.offset(0));
    return scalar(std::move(text), Node::Style::kPlain);
  }
  if (name == "None") return std::make_shared<Node>();
  return variable(name, cursor);
}

/// A name that stands for one expression only; the cursor is behind it.
NodePtr PythonScript::variable(const std::string& name, const Cursor& cursor) const {
  const auto bound = bound_.find(name);
  const auto assigned = assignments_.find(name);
  Cursor inner = cursor;
  if (bound != bound_.end()) {
    inner.at = bound->second;
  } else if (assigned != assignments_.end() && assigned->second.size() == 1) {
    inner.at = assigned->second.front();
  } else {
    return unknown(cursor.at - name.size(), cursor.at);
  }
  return value(inner);
}

/// Behind the opening bracket.
NodePtr PythonScript::call(const std::string& name, size_t begin, Cursor& cursor) const {
  if (reads_environment(name)) return environment(cursor, ')');
  if (makes_mapping(name)) return arguments(cursor);
  if (converts(name)) {
    NodePtr inner = value(cursor);
    skip_blanks(cursor);
    if (is_at(cursor, ')')) {
      ++cursor.at;
      return inner;
    }
  }
  cursor.at = python_expression_end(text_.view(), begin);
  return unknown(begin, cursor.at);
}

/// `"NAME"]` or `"NAME", DEFAULT)`.
NodePtr PythonScript::environment(Cursor& cursor, char closer) const {
  const size_t begin = cursor.at;
  const NodePtr name = value(cursor);
  NodePtr otherwise = unknown(begin, cursor.at);
  skip_blanks(cursor);
  if (is_at(cursor, ',')) {
    ++cursor.at;
    otherwise = value(cursor);
    skip_blanks(cursor);
  }
  if (is_at(cursor, closer)) ++cursor.at;
  const auto found = env_.find(name->scalar());
  if (found == env_.end()) return otherwise;
  const EnvVar& variable = *found->second;
  if (variable.known || has_placeholder(variable.value.view())) {
    return scalar(variable.value, Node::Style::kDoubleQuoted);
  }
  return unknown(begin + 1, begin + 1 + name->text.size());
}

NodePtr PythonScript::arguments(Cursor& cursor) const {
  const std::string_view text = text_.view();
  auto node = std::make_shared<Node>();
  node->kind = Node::Kind::kMapping;
  const size_t begin = cursor.at;
  for (skip_blanks(cursor); cursor.at < text.size() && !is_at(cursor, ')'); skip_blanks(cursor)) {
    const size_t name = cursor.at;
    size_t end = name;
    while (end < text.size() && is_name_char(text[end])) ++end;
    const size_t equals = skip_python_blanks(text, end);
    if (end > name && text.substr(equals, 1) == "=" && text.substr(equals, 2) != "==") {
      cursor.at = equals + 1;
      node->entries.push_back({text_.substr(name, end - name), value(cursor)});
    }
    cursor.at = python_expression_end(text, cursor.at);
    if (!is_at(cursor, ',')) break;
    ++cursor.at;
  }
  if (is_at(cursor, ')')) ++cursor.at;
  node->where = text_.substr(begin, cursor.at - begin).location();
  return node;
}

}  // namespace kvbudget
