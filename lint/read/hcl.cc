// Grammar: github.com/hashicorp/hcl, hclsyntax/spec.md (2.20). What cannot be read is stepped over
// to the end of its line; nothing here fails.

#include "lint/read/hcl.h"

#include <algorithm>
#include <array>
#include <optional>
#include <string_view>

namespace kvbudget {
namespace {

constexpr int kMaxDepth = 60;

struct ListName {
  std::string_view block;
  std::string_view list;
};
// Blocks of the provider hashicorp/kubernetes that are items of a list in the API.
constexpr std::array kListBlocks = {
    ListName{"container", "containers"},
    ListName{"containers", "containers"},  // Google's Cloud Run has the plural
    ListName{"env", "env"},
    ListName{"envFrom", "envFrom"},
    ListName{"initContainer", "initContainers"},
    ListName{"matchExpressions", "matchExpressions"},
    ListName{"nodeSelectorTerm", "nodeSelectorTerms"},
    ListName{"port", "ports"},
    ListName{"set", "set"},
    ListName{"toleration", "tolerations"},
    ListName{"volume", "volumes"},
    ListName{"volumeMount", "volumeMounts"},
};

using MutableNode = std::shared_ptr<Node>;

bool is_name(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' ||
         c == '-';
}

MutableNode new_node(Node::Kind kind, Location where) {
  auto node = std::make_shared<Node>();
  node->kind = kind;
  node->where = where;
  return node;
}

char unescaped(char c) { return c == 'n' ? '\n' : c == 't' ? '\t' : c; }

class Parser {
 public:
  explicit Parser(const SourceFile& file) : file_(file), text_(file.bytes()) {}

  std::vector<HclBlock> blocks() {
    std::vector<HclBlock> result;
    while (skip_space(), at_ < text_.size()) {
      const SourceText name = read_name();
      if (name.empty() || !read_block(name, result, 0)) skip_line();
    }
    return result;
  }

 private:
  char peek(size_t ahead = 0) const {
    return at_ + ahead < text_.size() ? text_[at_ + ahead] : '\0';
  }

  Location from(uint32_t begin) const { return {&file_, {begin, at_}}; }

  void skip_line() {
    while (at_ < text_.size() && text_[at_] != '\n') ++at_;
    if (at_ < text_.size()) ++at_;
  }

  /// Blanks and comments; line breaks too.
  void skip_space() {
    while (at_ < text_.size()) {
      const char c = text_[at_];
      if (c == '#' || (c == '/' && peek(1) == '/')) {
        skip_line();
      } else if (c == '/' && peek(1) == '*') {
        const size_t end = text_.find("*/", at_ + 2);
        at_ = static_cast<uint32_t>(end == std::string_view::npos ? text_.size() : end + 2);
      } else if (c == ' ' || c == '\t' || c == '\r' || c == '\n') {
        ++at_;
      } else {
        return;
      }
    }
  }

  void skip_blanks() {
    while (peek() == ' ' || peek() == '\t') ++at_;
  }

  SourceText read_name() {
    const uint32_t begin = at_;
    while (is_name(peek())) ++at_;
    return SourceText(file_, {begin, at_});
  }

  /// `TYPE "label" … {`; false when no block follows the name.
  bool read_block(const SourceText& type, std::vector<HclBlock>& out, int depth) {
    HclBlock block;
    block.type = type;
    for (skip_blanks(); peek() == '"' || is_name(peek()); skip_blanks()) {
      block.labels.push_back(peek() == '"' ? read_string() : read_name());
    }
    if (peek() != '{') return false;
    const uint32_t begin = at_++;
    block.body = read_body(begin, depth + 1);
    out.push_back(std::move(block));
    return true;
  }

  NodePtr read_body(uint32_t begin, int depth) {
    MutableNode body = new_node(Node::Kind::kMapping, {});
    if (depth > kMaxDepth) return skip_braces(begin), body;
    while (skip_space(), at_ < text_.size() && peek() != '}') {
      const SourceText name = read_name();
      skip_blanks();
      if (!name.empty() && peek() == '=' && peek(1) != '=') {
        ++at_;
        if (NodePtr value = read_value(depth)) body->entries.push_back({camel(name), value});
      } else if (std::vector<HclBlock> inner; !name.empty() && read_block(name, inner, depth)) {
        add_block(*body, camel(name), with_label(inner.front()));
      } else {
        skip_line();
      }
    }
    if (at_ < text_.size()) ++at_;
    body->where = from(begin);
    return body;
  }

  static NodePtr with_label(const HclBlock& block) {
    if (block.labels.empty()) return block.body;
    MutableNode body = std::make_shared<Node>(*block.body);
    MutableNode label = new_node(Node::Kind::kScalar, block.labels.front().location());
    label->text = block.labels.front();
    SourceText key = label->text.substr(0, 0);
    key.append_synthetic(kHclLabel, label->where.range.begin);
    body->entries.push_back({std::move(key), std::move(label)});
    return body;
  }

  void skip_braces(uint32_t begin) {
    at_ = begin;
    skip_expression();
  }

  static SourceText camel(const SourceText& name) {
    SourceText result = name.substr(0, 0);
    for (size_t i = 0; i < name.size(); ++i) {
      const bool hump = name[i] == '_' && i + 1 < name.size();
      const char next = hump ? name[++i] : name[i];
      const bool lower = next >= 'a' && next <= 'z';
      result.append(hump && lower ? static_cast<char>(next - 'a' + 'A') : next, name.offset(i));
    }
    return result;
  }

  void add_block(Node& body, const SourceText& type, const NodePtr& inner) {
    const auto list = std::find_if(kListBlocks.begin(), kListBlocks.end(),
                                   [&](const ListName& row) { return row.block == type.view(); });
    if (list == kListBlocks.end()) return body.entries.push_back({type, inner});
    const auto known =
        std::find_if(body.entries.begin(), body.entries.end(),
                     [&](const Entry& entry) { return entry.key.view() == list->list; });
    if (known != body.entries.end() && known->value->is_sequence()) {
      auto longer = std::make_shared<Node>(*known->value);
      longer->items.push_back(inner);
      known->value = std::move(longer);
      return;
    }
    SourceText key = type.substr(0, 0);
    key.append_synthetic(list->list, type.offset(0));
    MutableNode items = new_node(Node::Kind::kSequence, inner->where);
    items->items.push_back(inner);
    body.entries.push_back({std::move(key), std::move(items)});
  }

  /// A literal, or the text of whatever stands there; null for a heredoc.
  NodePtr read_value(int depth) {
    skip_blanks();
    const uint32_t begin = at_;
    if (peek() == '<' && peek(1) == '<') return skip_heredoc(), nullptr;
    NodePtr literal = depth > kMaxDepth ? nullptr : read_literal(depth);
    if (literal != nullptr) {
      skip_blanks();
      if (ends_value(peek())) return literal;
    }
    at_ = begin;
    skip_expression();
    return at_ > begin ? expression(begin) : nullptr;
  }

  static bool ends_value(char c) {
    return c == '\n' || c == '\r' || c == ',' || c == '}' || c == ']' || c == ')' || c == '#' ||
           c == '/' || c == '\0';
  }

  NodePtr read_literal(int depth) {
    const uint32_t begin = at_;
    if (peek() == '"') {
      SourceText text = read_string();
      MutableNode node = new_node(Node::Kind::kScalar, text.location());
      node->style = Node::Style::kDoubleQuoted;
      node->text = std::move(text);
      return node;
    }
    if (peek() == '[') return read_list(depth + 1);
    if (peek() == '{') return read_object(depth + 1);
    while (is_name(peek()) || peek() == '.') ++at_;
    const std::string_view word = text_.substr(begin, at_ - begin);
    if ((word == "yamlencode" || word == "jsonencode") && peek() == '(') {
      ++at_;
      skip_space();
      NodePtr inner = read_value(depth + 1);
      skip_space();
      if (peek() == ')') ++at_;
      return inner;
    }
    const bool number = !word.empty() && word.find_first_not_of("0123456789.") == word.npos;
    if (!number && word != "true" && word != "false") return nullptr;
    MutableNode node = new_node(Node::Kind::kScalar, from(begin));
    node->text = SourceText(file_, {begin, at_});
    return node;
  }

  NodePtr read_list(int depth) {
    const uint32_t begin = at_++;
    MutableNode list = new_node(Node::Kind::kSequence, {});
    while (skip_space(), at_ < text_.size() && peek() != ']') {
      const uint32_t before = at_;
      if (NodePtr item = read_value(depth)) list->items.push_back(std::move(item));
      skip_space();
      if (peek() == ',') ++at_;
      if (at_ == before) ++at_;
    }
    if (at_ < text_.size()) ++at_;
    list->where = from(begin);
    return list;
  }

  NodePtr read_object(int depth) {
    const uint32_t begin = at_++;
    MutableNode object = new_node(Node::Kind::kMapping, {});
    while (skip_space(), at_ < text_.size() && peek() != '}') {
      const uint32_t before = at_;
      SourceText key = peek() == '"' ? read_string() : read_name();
      skip_blanks();
      if (peek() == '=' || peek() == ':') {
        ++at_;
        NodePtr value = read_value(depth);
        if (value != nullptr) object->entries.push_back({std::move(key), std::move(value)});
      }
      skip_space();
      if (peek() == ',') ++at_;
      if (at_ == before) ++at_;
    }
    if (at_ < text_.size()) ++at_;
    object->where = from(begin);
    return object;
  }

  /// Between quotes; what `${…}` holds stays as it is.
  SourceText read_string() {
    const uint32_t begin = ++at_;
    SourceText text = SourceText::empty_at(&file_, {begin, begin});
    int braces = 0;
    for (; at_ < text_.size() && text_[at_] != '\n'; ++at_) {
      const char c = text_[at_];
      if (c == '"' && braces == 0) break;
      if (c == '{' && at_ > begin && text_[at_ - 1] == '$') ++braces;
      if (c == '}' && braces > 0) --braces;
      const bool escape = c == '\\' && braces == 0 && at_ + 1 < text_.size();
      if (escape) ++at_;
      text.append(escape ? unescaped(text_[at_]) : c, at_);
    }
    if (peek() == '"') ++at_;
    return text;
  }

  /// To the end of an expression: its line, or the comma or bracket that belongs to what is around.
  void skip_expression() {
    int depth = 0;
    while (at_ < text_.size()) {
      const char c = text_[at_];
      if (c == '"') {
        read_string();
        continue;
      }
      if (c == '(' || c == '[' || c == '{') ++depth;
      const bool closes = c == ')' || c == ']' || c == '}';
      if (depth == 0 && (closes || c == ',' || c == '\n')) return;
      if (closes) --depth;
      ++at_;
      if (closes && depth == 0 && (peek() == '\n' || peek() == '\0')) return;
    }
  }

  NodePtr expression(uint32_t begin) {
    SourceText text = SourceText::empty_at(&file_, {begin, begin});
    text.append_synthetic("${", begin);
    text.append(SourceText(file_, {begin, at_}));
    text.append_synthetic("}", at_ - 1);
    MutableNode node = new_node(Node::Kind::kScalar, from(begin));
    node->style = Node::Style::kDoubleQuoted;
    node->text = std::move(text);
    return node;
  }

  void skip_heredoc() {
    at_ += 2;
    if (peek() == '-') ++at_;
    const uint32_t begin = at_;
    while (is_name(peek())) ++at_;
    const std::string_view word = text_.substr(begin, at_ - begin);
    skip_line();
    while (at_ < text_.size()) {
      const size_t end = std::min(text_.find('\n', at_), text_.size());
      const std::string_view line = text_.substr(at_, end - at_);
      const size_t first = line.find_first_not_of(" \t");
      const size_t last = line.find_last_not_of(" \t\r");
      if (first != line.npos && line.substr(first, last + 1 - first) == word) {
        at_ = static_cast<uint32_t>(at_ + last + 1);
        return;
      }
      skip_line();
    }
  }

  const SourceFile& file_;
  std::string_view text_;
  uint32_t at_ = 0;
};

}  // namespace

std::vector<HclBlock> parse_hcl(const SourceFile& file) { return Parser(file).blocks(); }

}  // namespace kvbudget
