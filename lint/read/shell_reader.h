// Reads shell words: quotes, escapes and expansions, each byte with its place in the file.
#pragma once

#include <algorithm>
#include <string_view>
#include <vector>

#include "lint/read/shell_scope.h"
#include "lint/read/word_builder.h"

namespace kvbudget {

bool is_shell_blank(char c);
bool ends_shell_word(char c);  ///< unquoted; NUL, which peek() gives at the end, too
bool is_name_start(char c);
bool is_name_char(char c);
/// True when raw text holds an expansion that nobody resolved.
bool holds_expansion(std::string_view text);

class ShellReader {
 public:
  ShellReader(const SourceText& text, ShellScope& scope) : text_(text), scope_(scope) {}

  bool done() const { return pos_ >= text_.size(); }
  char peek(size_t ahead = 0) const {
    return pos_ + ahead < text_.size() ? text_[pos_ + ahead] : '\0';
  }
  size_t position() const { return pos_; }
  void advance(size_t count = 1) { pos_ = std::min(pos_ + count, text_.size()); }
  const SourceText& text() const { return text_; }

  void skip_blanks();  ///< and continued lines
  void skip_line();    ///< up to the line break
  /// Behind an opening mark: goes on until `closer`, over nested quotes and groups.
  void skip_group(char closer);

  /// At a line break: its line holds nothing but actions that steer (`{% if … %}`), and such a line
  /// is not there once the template has run.
  bool ends_control_line() const;

  /// Reads one word as it stands; it may expand to none or to many.
  void read_word(std::vector<Word>& out);
  /// The right side of an assignment: expansions are not split.
  Word read_value();
  /// All that is left, as a here-document: expansions are replaced, quotes are not marks.
  SourceText read_document();

 private:
  void word(WordBuilder& word, bool splits, bool in_operand);
  void single_quoted(WordBuilder& word);
  void ansi_quoted(WordBuilder& word);
  void double_quoted(WordBuilder& word);
  void quoted_byte(std::string_view escapes, WordBuilder& word);
  bool template_action(WordBuilder& word);
  void backquoted(WordBuilder& word);
  void skip_backquotes();
  bool holds_comment(size_t begin) const;
  void dollar(WordBuilder& word, bool splits);
  bool arithmetic(size_t start, WordBuilder& word) const;
  void braced(WordBuilder& word, bool splits);
  void operand(WordBuilder& word, bool splits, std::string_view name, char op,
               const ShellValue* value, bool present, size_t start);
  void value_of(std::string_view name, bool all, bool splits, size_t start, WordBuilder& word);
  void add_words(const std::vector<Word>& words, bool separate, bool splits, WordBuilder& word);
  void expand(const ShellValue& value, bool all, bool splits, size_t start, WordBuilder& word);
  void add_split(const Word& value, WordBuilder& word);
  void changed(std::string_view name, size_t start, bool splits, WordBuilder& word);
  void add_raw(size_t begin, size_t end, WordBuilder& word);

  const SourceText& text_;
  ShellScope& scope_;
  size_t pos_ = 0;
  int depth_ = 0;          // nested expansions
  bool vanishes_ = false;  // "${EMPTY_ARRAY[@]}" is no word, while "" is an empty one
};

}  // namespace kvbudget
