// Short ways to write an engine start and to print what was understood.
#pragma once

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "lint/engine/settings.h"

namespace kvbudget::testing {

/// Words between blanks; `~` stands for a blank inside a word. A word with `$` is one that only run
/// time knows.
inline EngineStart start_of(const std::string& line, bool serve = true) {
  EngineStart start;
  start.serve = serve;
  std::string word;
  const auto flush = [&] {
    if (word.empty()) return;
    for (char& c : word) c = c == '~' ? ' ' : c;
    start.argv.push_back({SourceText(word), word.find('$') == std::string::npos});
    word.clear();
  };
  for (const char c : line) {
    if (c == ' ') flush();
    if (c != ' ') word += c;
  }
  flush();
  return start;
}

inline NodePtr scalar(const std::string& text, Node::Style style = Node::Style::kPlain) {
  auto node = std::make_shared<Node>();
  node->kind = text == "null" ? Node::Kind::kNull : Node::Kind::kScalar;
  node->style = style;
  node->text = SourceText(text);
  return node;
}

inline NodePtr quoted(const std::string& text) { return scalar(text, Node::Style::kDoubleQuoted); }

inline NodePtr list(std::vector<NodePtr> items) {
  auto node = std::make_shared<Node>();
  node->kind = Node::Kind::kSequence;
  node->items = std::move(items);
  return node;
}

inline NodePtr mapping(std::vector<std::pair<std::string, NodePtr>> entries) {
  auto node = std::make_shared<Node>();
  node->kind = Node::Kind::kMapping;
  for (auto& [key, value] : entries) node->entries.push_back({SourceText(key), value});
  return node;
}

/// Everything that was understood, in one line: `name=value` per setting, `?name` for an unknown
/// flag, `??name` for an ambiguous one, `!word` for a refused word, `*` for opaque words.
inline std::string understood(const Settings& settings) {
  std::string text;
  const auto add = [&](const std::string& piece) { text += (text.empty() ? "" : " ") + piece; };
  if (settings.model) {
    add("model=" + (settings.model_known ? settings.model->value : std::string("<unknown>")));
  }
  for (const auto& [name, setting] : settings.all()) {
    add(name + "=" + (setting.known ? setting.value : std::string("<unknown>")));
  }
  for (const UnknownFlag& flag : settings.unknown_flags) {
    add((flag.ambiguous ? "??" : "?") + flag.name);
  }
  for (const RefusedWord& word : settings.refused_words) add("!" + word.text);
  if (settings.opaque_words) add("*");
  return text;
}

}  // namespace kvbudget::testing
