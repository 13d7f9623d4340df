// Scalars and flow collections: the parts of YAML that end where their own characters say.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "lint/read/yaml_lexer.h"

namespace kvbudget {

/// Walks over one document and writes its mask. What is not shown or hidden stays blank there.
class YamlScanner {
 public:
  YamlScanner(const YamlInput& input, uint32_t begin, uint32_t end);

  bool done() const { return pos_ >= work_.size(); }
  bool failed() const { return !result_.problems.empty(); }
  uint32_t position() const { return pos_; }
  uint32_t column() const { return pos_ - line_start_; }
  char peek() const { return at(pos_); }
  bool at_break() const;
  bool at_colon() const;                            ///< a ':' that ends a key in block context
  bool at_indicator() const;                        ///< `- `, `? ` or `: `
  void show() { show(pos_++); }                     ///< takes the character over into the mask
  void fail(uint32_t offset, std::string message);  ///< only the first counts

  void next_line();
  void skip_to_break();
  void skip_spaces();
  void skip_blanks();

  void property();  ///< `&anchor` or `!tag`
  void alias();
  void quoted();
  void flow(size_t depth);  ///< `depth`: collections around it
  /// Lines behind the first one belong to these when they start at `min_column` or behind it.
  void plain(uint32_t min_column);
  void block_scalar(uint32_t min_column);

  LexedYaml take() { return std::move(result_); }

  // Deeper documents are refused: LLVM's parser and everything after it recurse.
  static constexpr size_t kMaxDepth = 200;

 private:
  char at(size_t i) const { return i < work_.size() ? work_[i] : '\n'; }
  bool ends_word(size_t i) const;
  void show(uint32_t i) { result_.mask[i - base_] = work_[i]; }
  void name(uint32_t i);
  void hide(uint32_t begin, uint32_t end);
  void add(const ScalarToken& token);

  uint32_t plain_line();
  void plain_continuation(ScalarToken& token, uint32_t min_column);
  uint32_t block_header(ScalarToken& token);
  uint32_t block_content(ScalarToken& token, uint32_t min_column, bool indent_known);
  void flow_item(size_t depth);
  void open_bracket(size_t depth);
  void close_bracket(char c);
  void plain_in_flow();

  std::string_view work_;
  uint32_t base_;
  uint32_t pos_;
  uint32_t line_start_;
  bool after_json_key_ = false;   // `"a":1`: behind a quote or bracket a colon needs no blank
  char last_ = ' ';               // first character of the last token in a flow collection
  std::vector<size_t> brackets_;  // open flow collections, as indices of flow_begins
  LexedYaml result_;
};

}  // namespace kvbudget
