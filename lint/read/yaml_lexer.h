// Finds the scalars of a YAML document and hides them from the parser.
//
// LLVM's parser nests blocks well but treats scalars loosely: it does not fold, keeps trailing
// blanks, rejects `{L4:1}`, and its positions do not say which byte became which. So scalars are
// found here, by the rules of YAML 1.1 as PyYAML 6 reads them (that is what vLLM and most tools
// use), and the parser gets a copy of the document in which every scalar is a plain word of the
// same place. It sees nothing but structure; limits on depth and size are enforced before it
// starts.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "lint/read/document.h"

namespace kvbudget {

/// What is read: a file, or a text that stands in one. Offsets below are into `bytes`.
struct YamlInput {
  std::string_view bytes;            ///< as written
  std::string_view work;             ///< the same length, template actions neutralised
  const SourceFile* file = nullptr;  ///< may be null for a text that no file holds
  const SourceText* text = nullptr;  ///< null: `bytes` are those of the file

  uint32_t offset(size_t i) const;
  Location location(size_t begin, size_t end) const;
};

struct ScalarToken {
  uint32_t begin = 0;    ///< the first byte, which is the quote or the block header if there is one
  uint32_t end = 0;      ///< behind the last byte; block scalars: the next line that is not theirs
  uint32_t content = 0;  ///< block scalars: where the first line of content starts
  uint32_t indent = 0;   ///< block scalars: columns that are not content
  char chomp = ' ';      ///< block scalars: '-', '+' or ' '
  Node::Style style = Node::Style::kPlain;
};

struct YamlProblem {
  uint32_t offset = 0;
  std::string message;
};

struct LexedYaml {
  std::string mask;                   ///< bytes [begin, end) of the input with scalars hidden
  std::vector<ScalarToken> scalars;   ///< in the order of `begin`
  std::vector<uint32_t> flow_begins;  ///< brackets that open, in order, and beside them …
  std::vector<uint32_t> flow_ends;    ///< … the offset behind the bracket that closes
  std::vector<YamlProblem> problems;  ///< not empty: the document cannot be read
};

/// Lexes one document, [begin, end) of the input, without its `---` line.
LexedYaml lex_yaml(const YamlInput& input, uint32_t begin, uint32_t end);

}  // namespace kvbudget
