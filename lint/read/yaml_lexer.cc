// Block context, line by line: which collections are open decides where scalars of several lines
// end and whether a value may stand where it does. LLVM's parser drops some of what is out of place
// without a word, so that is checked here.

#include "lint/read/yaml_lexer.h"

#include <algorithm>
#include <optional>

#include "lint/read/yaml_scanner.h"

namespace kvbudget {
namespace {

class BlockLexer {
 public:
  BlockLexer(const YamlInput& input, uint32_t begin, uint32_t end) : scan_(input, begin, end) {}

  LexedYaml run() {
    while (!scan_.done() && !scan_.failed()) line();
    return scan_.take();
  }

 private:
  /// An open block collection. A list may stand in the column of the mapping that holds it.
  struct Collection {
    uint32_t column = 0;
    bool mapping = false;
    bool sequence = false;
  };

  void line() {
    scan_.skip_spaces();
    const uint32_t indent_end = scan_.position();
    scan_.skip_blanks();
    const bool has_content = !scan_.done() && !scan_.at_break() && scan_.peek() != '#';
    if (has_content && scan_.position() != indent_end) {
      return scan_.fail(indent_end, "a tab cannot indent YAML, use spaces");
    }
    if (has_content) close_collections(scan_.column() + 1);
    key_allowed_ = true;
    property_column_.reset();
    while (!scan_.done() && !scan_.at_break() && !scan_.failed()) item();
    scan_.next_line();
  }

  /// One indicator, property, scalar or flow collection of a line, and the blanks behind it.
  void item() {
    const char c = scan_.peek();
    if (c == '#') return scan_.skip_to_break();  // a '#' in a plain scalar does not get here
    if (scan_.at_indicator()) {
      indicator(c);
    } else if (c == '&' || c == '!') {
      if (!property_column_) property_column_ = scan_.column();
      scan_.property();
    } else {
      const uint32_t begin = scan_.position();
      const uint32_t column = property_column_.value_or(scan_.column());
      property_column_.reset();
      item_column_.reset();
      const bool in_place = value_follows_ || collection_at(column, &Collection::mapping);
      node(c);
      if (!scan_.failed()) behind_node(begin, column, in_place);
    }
    scan_.skip_blanks();
  }

  /// `- `, `? ` or `: ` opens a collection or goes on with it.
  void indicator(char c) {
    const uint32_t column = scan_.column();
    const uint32_t begin = scan_.position();
    if (!key_allowed_) return scan_.fail(begin, "a list cannot start in the line of its key");
    const auto kind = c == '-' ? &Collection::sequence : &Collection::mapping;
    if (!value_follows_ && !collection_at(column, kind)) return out_of_place(begin);
    // LLVM nests what follows an empty item or key, so a run of them is depth.
    empty_items_ = item_column_ == column ? empty_items_ + 1 : 0;
    if (empty_items_ > YamlScanner::kMaxDepth) return scan_.fail(begin, "too many empty items");
    item_column_ = column;
    open_collection(column, kind);
    scan_.show();
    property_column_.reset();
  }

  void node(char c) {
    if (c == '"' || c == '\'') return scan_.quoted();
    if (c == '[' || c == '{') return scan_.flow(open_.size());
    if (c == '*') return scan_.alias();
    if (c == '|' || c == '>') return scan_.block_scalar(inner_column());
    if (std::string_view("]},@`%").find(c) != std::string_view::npos) {
      return scan_.fail(scan_.position(),
                        std::string("a value cannot start with '") + c + "', put it in quotes");
    }
    const bool must_be_key = key_allowed_ && collection_at(scan_.column(), &Collection::mapping);
    scan_.plain(must_be_key ? UINT32_MAX : inner_column());
  }

  /// Behind a node: with a colon it was a key, which may not stand in the value of another key.
  void behind_node(uint32_t begin, uint32_t column, bool in_place) {
    scan_.skip_blanks();
    if (!in_place) return out_of_place(begin);
    if (scan_.at_colon()) {
      if (!key_allowed_) {
        return scan_.fail(scan_.position(), "a second ': ' in one line, put the value in quotes");
      }
      open_collection(column, &Collection::mapping);
      scan_.show();
      key_allowed_ = false;
      return;
    }
    if (key_allowed_ && collection_at(column, &Collection::mapping)) {
      return scan_.fail(begin, "a key without ': ' behind it");
    }
    value_follows_ = false;
  }

  void out_of_place(uint32_t offset) {
    scan_.fail(offset, "this does not belong to what stands above, check the indentation");
  }

  void open_collection(uint32_t column, bool Collection::*kind) {
    if (open_.empty() || open_.back().column < column) open_.push_back({column});
    open_.back().*kind = true;
    if (open_.size() > YamlScanner::kMaxDepth) {
      scan_.fail(scan_.position(), "nested too deep to be a deployment");
    }
    value_follows_ = true;
  }
  void close_collections(uint32_t from_column) {
    while (!open_.empty() && open_.back().column >= from_column) {
      open_.pop_back();
      value_follows_ = false;  // what waited for a value is closed
    }
  }
  bool collection_at(uint32_t column, bool Collection::*kind) const {
    return !open_.empty() && open_.back().column == column && open_.back().*kind;
  }
  /// First column that a scalar of several lines may use behind its first one.
  uint32_t inner_column() const {
    const auto inside = std::find_if(open_.rbegin(), open_.rend(), [&](const Collection& outer) {
      return outer.column < scan_.column();
    });
    return inside == open_.rend() ? 0 : inside->column + 1;
  }

  YamlScanner scan_;
  std::vector<Collection> open_;
  bool value_follows_ = true;  // a value may start: the document begins, or a key or `-` waits
  bool key_allowed_ = true;    // no other key was in this line
  std::optional<uint32_t> property_column_;  // of the anchor or tag in front of the next node
  std::optional<uint32_t> item_column_;      // of an item or `? ` key that is empty so far
  size_t empty_items_ = 0;
};

}  // namespace

uint32_t YamlInput::offset(size_t i) const {
  return text == nullptr ? static_cast<uint32_t>(i) : text->offset(i);
}

Location YamlInput::location(size_t begin, size_t end) const {
  if (file == nullptr) return {};
  const uint32_t first = offset(begin);
  const uint32_t last = end > begin ? offset(end - 1) + 1 : first;
  return {file, {first, std::max(first, last)}};
}

LexedYaml lex_yaml(const YamlInput& input, uint32_t begin, uint32_t end) {
  return BlockLexer(input, begin, end).run();
}

}  // namespace kvbudget
