// A YAML or JSON file as a tree that knows where everything stands.
//
// Reading goes in steps, each in its own file: template actions are neutralised (yaml_template),
// scalars are found and hidden (yaml_lexer), LLVM's parser nests what is left (document.cc, the
// only place that knows it), scalars are decoded (scalar), merge keys and duplicate keys are
// settled (mapping). Later stages see plain values. Aliases share the node they name, so a tree can
// be a graph without cycles; walk it with a depth in mind, not by copying.
#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "lint/read/source.h"

namespace kvbudget {

struct Node;
using NodePtr = std::shared_ptr<const Node>;

struct Entry {
  SourceText key;
  NodePtr value;
};

struct Node {
  enum class Kind { kNull, kScalar, kSequence, kMapping };
  enum class Style { kPlain, kSingleQuoted, kDoubleQuoted, kLiteral, kFolded };

  Kind kind = Kind::kNull;
  Style style = Style::kPlain;
  SourceText text;             ///< scalar: the value as YAML means it (folded, unescaped, trimmed)
  std::vector<NodePtr> items;  ///< sequence
  std::vector<Entry> entries;  ///< mapping, merge keys expanded, the last of a duplicate key kept
  Location
      where;  ///< scalar: the value without quotes; block collection: first to last child; flow
              ///< collection: with its brackets; null: the word, or the key if none is written

  bool is_scalar() const { return kind == Kind::kScalar; }
  bool is_mapping() const { return kind == Kind::kMapping; }
  bool is_sequence() const { return kind == Kind::kSequence; }

  /// Value of `key`, or null when this is no mapping or has no such key.
  const Node* find(std::string_view key) const;
  const Entry* find_entry(std::string_view key) const;
  /// Follows a path of keys: `at({"spec", "template", "spec"})`.
  const Node* at(std::initializer_list<std::string_view> path) const;
  /// Text of a scalar, empty for anything else.
  std::string_view scalar() const { return is_scalar() ? text.view() : std::string_view(); }
};

/// A scalar that says `text`; false for null.
inline bool has_text(const Node* node, std::string_view text) {
  return node != nullptr && node->scalar() == text;
}

/// Something in the file that is not what the format allows.
struct SyntaxError {
  Location where;
  std::string message;
  bool tolerated = false;  ///< most programs read the file all the same: a key given twice
};

struct Document {
  std::vector<NodePtr> roots;  ///< one per YAML document that could be read (JSON: one)
  std::vector<SyntaxError> errors;
};

/// Reads every YAML document of `file`. Never throws and never gives up on the siblings of a broken
/// document.
Document parse_yaml(const SourceFile& file);
/// The same for YAML that stands inside another text (a config file in a ConfigMap).
Document parse_yaml(const SourceText& text);

}  // namespace kvbudget
