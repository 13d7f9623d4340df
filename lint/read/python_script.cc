// Reads expressions; python_scan.cc finds where they stand. One that is more than a literal, a name
// or a known call is not understood and unknown.

#include "lint/read/python_script.h"

#include <algorithm>
#include <array>
#include <memory>
#include <utility>

#include "lint/read/kubernetes_pod.h"
#include "lint/read/python_text.h"
#include "lint/read/shell_reader.h"
#include "lint/read/text.h"

namespace kvbudget {
namespace {

constexpr int kMaxDepth = 24;          // of expressions and of names that stand for others
constexpr size_t kMaxSteps = 100'000;  // values looked at for one call
constexpr size_t kMaxVariables = 500;  // of the environment
constexpr size_t kBytesOfStep = 64;
constexpr size_t kMaxScript = 1 << 20;  // bytes

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

PythonScript::PythonScript(const SourceText& text) : text_(text) {
  if (text_.size() <= kMaxScript) scan();
}

void PythonScript::see(const std::vector<EnvVar>& env) {
  for (const EnvVar& variable : env) env_[variable.name.str()] = &variable;
}

NodePtr PythonScript::arguments_of(const PythonCall& call) const {
  size_t steps = kMaxSteps;
  Cursor cursor{call.arguments, 0, &steps};
  NodePtr result = arguments(cursor);
  return steps == 0 ? nullptr : result;
}

NodePtr PythonScript::value_at(size_t at) const {
  size_t steps = kMaxSteps;
  Cursor cursor{at, 0, &steps, false};
  return value(cursor);
}

std::vector<EnvVar> PythonScript::environment_set() const {
  std::vector<EnvVar> variables;
  for (const size_t at : environment_) {
    if (variables.size() >= kMaxVariables) break;
    size_t steps = kMaxSteps;
    Cursor cursor{at, 0, &steps};
    const NodePtr name = value(cursor);
    skip_blanks(cursor);
    if (!is_at(cursor, ']')) continue;
    ++cursor.at;
    skip_blanks(cursor);
    const NodePtr set = value_at(cursor.at + 1);
    EnvVar variable{name->text, set->text, set->is_scalar() && !has_placeholder(set->scalar())};
    for (EnvVar& other : variables) {
      if (other.name.view() == variable.name.view()) other.known = variable.known = false;
    }
    variables.push_back(std::move(variable));
  }
  return variables;
}

void PythonScript::skip_blanks(Cursor& cursor) const {
  cursor.at = skip_python_blanks(text_.view(), cursor.at);
}

NodePtr PythonScript::unknown(size_t begin, size_t end) const {
  constexpr size_t kMaxShown = 200;  // bytes: long expressions are told by how they begin
  end = std::min({end, text_.view().substr(0, end).find('\n', begin), begin + kMaxShown});
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

/// No operator and no attribute follows.
bool PythonScript::ends_expression(const Cursor& cursor) const {
  const std::string_view text = text_.view();
  size_t next = std::min(text.find_first_not_of(" \t", cursor.at), text.size());
  if (cursor.bracketed) next = skip_python_blanks(text, next);
  return next == text.size() || is_any_of(text[next], cursor.bracketed ? ",)]}:" : ",)]}:;#\r\n");
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
    // Long texts that names stand for are looked at again and again.
    const size_t bytes = std::max(cursor.at - begin, result->text.size());
    *cursor.steps -= std::min(*cursor.steps, bytes / kBytesOfStep);
    if (ends_expression(cursor)) return result;
  }
  // Too deep, or an operator or an attribute behind it: more than this reads.
  cursor.at = python_expression_end(text_.view(), begin);
  return unknown(begin, cursor.at);
}

NodePtr PythonScript::primary(Cursor& cursor) const {
  if (cursor.at >= text_.size()) return unknown(cursor.at, cursor.at);
  const char c = text_[cursor.at];
  if (at_string(cursor.at)) return string(cursor);
  if (is_name_start(c)) return named(cursor);
  if (!is_any_of(c, "{[(")) return number(cursor);
  ++cursor.at;
  const bool outer = std::exchange(cursor.bracketed, true);
  NodePtr result = collection(cursor, c == '{' ? '}' : c == '[' ? ']' : ')');
  cursor.bracketed = outer;
  return result;
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

/// String literals that follow each other are one.
NodePtr PythonScript::string(Cursor& cursor) const {
  const size_t begin = cursor.at;
  SourceText text = SourceText::empty_at(text_.file(), text_.substr(begin, 1).location().range);
  while (true) {
    const size_t prefix = cursor.at;
    while (is_name_char(text_[cursor.at])) ++cursor.at;
    const NodePtr part = string_literal(cursor, text_.view().substr(prefix, cursor.at - prefix));
    if (part == nullptr) return unknown(begin, cursor.at);
    text.append(part->text);
    const std::string_view rest = text_.view();
    const size_t next = cursor.bracketed
                            ? skip_python_blanks(rest, cursor.at)
                            : std::min(rest.find_first_not_of(" \t", cursor.at), rest.size());
    if (!at_string(next)) return scalar(std::move(text), Node::Style::kDoubleQuoted);
    cursor.at = next;
  }
}

/// A quote, with or without a prefix (`r`, `f` …) in front of it.
bool PythonScript::at_string(size_t at) const {
  for (size_t letters = 0; at < text_.size() && letters < 3; ++at, ++letters) {
    if (is_any_of(text_[at], "\"'")) return true;
    if (!is_any_of(text_[at], "rRuUfFbB")) return false;
  }
  return false;
}

/// One literal with the cursor at its quote; null when it holds what is not read.
NodePtr PythonScript::string_literal(Cursor& cursor, std::string_view prefix) const {
  const size_t begin = cursor.at;
  cursor.at = skip_python_string(text_.view(), begin);
  const bool triple = text_.view().substr(begin, 3) == std::string(3, text_[begin]);
  const size_t quotes = triple ? 3 : 1;
  if (cursor.at < begin + 2 * quotes || prefix.find_first_of("bB") != prefix.npos) return nullptr;
  const SourceText inner = text_.substr(begin + quotes, cursor.at - begin - 2 * quotes);
  const bool raw = prefix.find_first_of("rR") != prefix.npos;
  const bool formatted = prefix.find_first_of("fF") != prefix.npos;
  SourceText out = inner.substr(0, 0);
  for (size_t k = 0; k < inner.size(); ++k) {
    if (inner[k] == '\\' && !raw) {
      const char next = k + 1 < inner.size() ? inner[++k] : '\0';
      if (next == '\n') continue;  // the line goes on
      if (!is_any_of(next, "\\\"'")) return nullptr;
      out.append(next, inner.offset(k));
    } else if (formatted && is_any_of(inner[k], "{}")) {
      if (!append_part(inner, k, cursor, out)) return nullptr;
    } else {
      out.append(inner[k], inner.offset(k));
    }
  }
  return scalar(std::move(out), Node::Style::kDoubleQuoted);
}

/// `{name}` of a formatted string at `k`, which ends up at its last byte; `{{` is a brace.
bool PythonScript::append_part(const SourceText& inner, size_t& k, Cursor& cursor,
                               SourceText& out) const {
  if (k + 1 < inner.size() && inner[k + 1] == inner[k]) {
    out.append(inner[k], inner.offset(k));
    ++k;
    return true;
  }
  const size_t close = inner.view().find('}', k);
  if (inner[k] == '}' || close == std::string_view::npos) return false;
  const SourceText name = inner.substr(k + 1, close - k - 1);
  k = close;
  const bool plain = !name.empty() && is_name_start(name[0]) &&
                     std::all_of(name.view().begin(), name.view().end(), is_name_char);
  if (plain && cursor.depth<kMaxDepth&& * cursor.steps> 0) {
    --*cursor.steps;
    Cursor part = cursor;
    ++part.depth;
    const NodePtr value = variable(name.str(), part);
    if (value != nullptr && value->is_scalar()) {
      out.append(value->text);
      return true;
    }
  }
  out.append_synthetic("${", inner.offset(close));
  out.append(name);
  out.append_synthetic("}", inner.offset(close));
  return true;
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
  const bool looks_up = is_at(cursor, '[') && name.ends_with("environ");
  if (is_at(cursor, '(') || looks_up) {
    ++cursor.at;
    const bool outer = std::exchange(cursor.bracketed, true);
    NodePtr result = looks_up ? environment(cursor, ']') : call(name, begin, cursor);
    cursor.bracketed = outer;
    return result;
  }
  if (name == "True" || name == "False") {
    SourceText text = word.substr(0, 0);
    text.append_synthetic(name == "True" ? "true" : "false", word.offset(0));
    return scalar(std::move(text), Node::Style::kPlain);
  }
  if (name == "None") return std::make_shared<Node>();
  const NodePtr meaning = variable(name, cursor);
  return meaning == nullptr ? unknown(begin, cursor.at) : meaning;
}

/// What a name stands for that only one expression gives a meaning; null when that is not known.
NodePtr PythonScript::variable(const std::string& name, const Cursor& cursor) const {
  const auto bound = bound_.find(name);
  const auto assigned = assignments_.find(name);
  Cursor inner = cursor;
  if (bound != bound_.end()) {
    inner.at = bound->second;
    inner.bracketed = true;
  } else if (assigned != assignments_.end() && assigned->second.size() == 1 &&
             headers_ <= kMaxHeaders && rebound_.count(name) == 0) {
    inner.at = assigned->second.front();
    inner.bracketed = false;
  } else {
    return nullptr;
  }
  NodePtr result = value(inner);
  return result->is_scalar() || changed_.count(name) == 0 ? result : nullptr;
}

/// Behind the opening bracket.
NodePtr PythonScript::call(const std::string& name, size_t begin, Cursor& cursor) const {
  if (reads_environment(name)) return environment(cursor, ')');
  if (makes_mapping(name)) {
    const NodePtr mapping = arguments(cursor);
    return mapping->items.empty() ? mapping : unknown(begin, cursor.at);
  }
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
    } else {
      node->items.push_back(value(cursor));
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
