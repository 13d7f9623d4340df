// One document after the other: split at `---`, lex, let LLVM nest it, copy into our own tree.
//
// What must be known about LLVM's parser (14 to 19): a collection can be walked once only;
// mappings know where they begin but not where they end; an alias and a null report the place of
// the next token; after an error the walk goes on over a partial tree. Errors reach us through the
// diagnostic handler and are not printed.

#include <llvm/Support/Casting.h>
#include <llvm/Support/SourceMgr.h>
#include <llvm/Support/YAMLParser.h>

#include <algorithm>
#include <iterator>
#include <map>
#include <optional>

#include "lint/read/scalar.h"
#include "lint/read/yaml_document.h"

namespace kvbudget {
namespace {

NodePtr null_node(Location where) {
  auto node = std::make_shared<Node>();
  node->where = where;
  return node;
}

/// Copies what LLVM nested, with the scalars as the lexer found them.
class TreeCopier {
 public:
  TreeCopier(const YamlInput& input, const LexedYaml& lexed, uint32_t base,
             MappingBuilder::Budget& budget, std::vector<SyntaxError>& errors)
      : input_(input), lexed_(lexed), base_(base), budget_(budget), errors_(errors) {}

  NodePtr copy(llvm::yaml::Node* node, Location fallback) {
    NodePtr result;
    if (node == nullptr || llvm::isa<llvm::yaml::NullNode>(node)) {
      result = null_node(fallback);
    } else if (auto* alias = llvm::dyn_cast<llvm::yaml::AliasNode>(node)) {
      return resolve(alias->getName().str());
    } else if (auto* mapping = llvm::dyn_cast<llvm::yaml::MappingNode>(node)) {
      result = copy_mapping(*mapping, fallback);
    } else if (auto* sequence = llvm::dyn_cast<llvm::yaml::SequenceNode>(node)) {
      result = copy_sequence(*sequence, fallback);
    } else {
      result = copy_scalar(node);
    }
    if (node != nullptr && !node->getAnchor().empty()) anchors_[node->getAnchor().str()] = result;
    return result;
  }

  std::vector<YamlProblem> take_problems() { return std::move(problems_); }

 private:
  uint32_t begin_of(const llvm::yaml::Node* node) const {
    const char* start = node->getSourceRange().Start.getPointer();
    const auto limit = static_cast<std::ptrdiff_t>(lexed_.mask.size());
    return base_ +
           static_cast<uint32_t>(std::clamp<std::ptrdiff_t>(start - lexed_.mask.data(), 0, limit));
  }

  NodePtr copy_scalar(const llvm::yaml::Node* node) {
    const uint32_t begin = begin_of(node);
    const auto token = std::lower_bound(
        lexed_.scalars.begin(), lexed_.scalars.end(), begin,
        [](const ScalarToken& scalar, uint32_t offset) { return scalar.begin < offset; });
    if (token == lexed_.scalars.end() || token->begin != begin) return null_node({});
    auto result = std::make_shared<Node>();
    result->style = token->style;
    result->text = decode_scalar(input_, *token, problems_);
    result->where = scalar_location(input_, *token);
    const bool null = token->style == Node::Style::kPlain && means_null(result->text.view());
    result->kind = null ? Node::Kind::kNull : Node::Kind::kScalar;
    return result;
  }

  NodePtr copy_sequence(llvm::yaml::SequenceNode& sequence, Location fallback) {
    auto result = std::make_shared<Node>();
    result->kind = Node::Kind::kSequence;
    const Location brackets = flow_place(sequence, '[');
    const size_t column = column_of(sequence);
    for (llvm::yaml::Node& item : sequence) {
      NodePtr value = copy(&item, fallback);
      extend(result->where, value->where);
      auto* inner = llvm::dyn_cast<llvm::yaml::SequenceNode>(&item);
      if (inner != nullptr && !brackets && column_of(*inner) == column && begins_line(*inner)) {
        // LLVM takes what follows an empty item (`-` alone) for a list in it.
        result->items.push_back(null_node(fallback));
        const std::vector<NodePtr>& rest = value->items;
        result->items.insert(result->items.end(), rest.begin(), rest.end());
      } else {
        result->items.push_back(std::move(value));
      }
    }
    if (brackets) result->where = brackets;
    return result;
  }

  NodePtr copy_mapping(llvm::yaml::MappingNode& mapping, Location fallback) {
    auto result = std::make_shared<Node>();
    result->kind = Node::Kind::kMapping;
    const Location brackets = flow_place(mapping, '{');
    MappingBuilder builder(budget_, errors_);
    for (llvm::yaml::KeyValueNode& pair : mapping) {
      const NodePtr key = copy(pair.getKey(), fallback);
      const NodePtr value = copy(pair.getValue(), key->where ? key->where : fallback);
      extend(result->where, key->where);
      extend(result->where, value->where);
      if (key->is_mapping() || key->is_sequence()) {
        errors_.push_back({key->where, "a list or mapping cannot be a key"});
      } else if (key->style == Node::Style::kPlain && key->text.view() == "<<") {
        builder.add_merge(key->text, value);
      } else {
        builder.add(key->text, value);
      }
    }
    result->entries = builder.take();
    if (brackets) result->where = brackets;
    return result;
  }

  NodePtr resolve(const std::string& name) {
    const auto found = anchors_.find(name);
    if (found != anchors_.end()) return found->second;
    // The parser does not say where the alias stands, but the mask shows it.
    const size_t mark = std::min(lexed_.mask.find("*" + name), lexed_.mask.size());
    const size_t begin = base_ + mark;
    const size_t end = std::min(begin + 1 + name.size(), input_.bytes.size());
    const Location where = input_.location(std::min(begin, end), end);
    errors_.push_back({where, "no anchor '&" + name + "' before this alias"});
    return anchors_[name] = null_node(where);
  }

  /// Columns of the token behind the start of a collection: its first `-` or key in block style.
  size_t column_of(const llvm::yaml::Node& node) const {
    const size_t begin = begin_of(&node) - base_;
    const size_t line = begin == 0 ? std::string::npos : lexed_.mask.rfind('\n', begin - 1);
    return line == std::string::npos ? begin : begin - line - 1;
  }
  bool begins_line(const llvm::yaml::Node& node) const {
    const size_t begin = begin_of(&node) - base_;
    const size_t column = column_of(node);
    return lexed_.mask.find_first_not_of(' ', begin - column) >= begin;
  }

  /// Brackets of a flow collection, nowhere for a block collection. The parser gives the place of
  /// the token behind the opening bracket.
  Location flow_place(const llvm::yaml::Node& node, char bracket) const {
    size_t i = begin_of(&node) - base_;
    while (i > 0 && (lexed_.mask[i - 1] == ' ' || lexed_.mask[i - 1] == '\n')) --i;
    if (i == 0 || lexed_.mask[i - 1] != bracket) return {};
    const uint32_t open = base_ + static_cast<uint32_t>(i) - 1;
    const auto& begins = lexed_.flow_begins;
    const auto found = std::lower_bound(begins.begin(), begins.end(), open);
    if (found == begins.end() || *found != open) return {};
    const auto index = static_cast<size_t>(found - begins.begin());
    return input_.location(open, lexed_.flow_ends[index]);
  }

  static void extend(Location& where, const Location& child) {
    if (!child) return;
    if (!where) {
      where = child;
      return;
    }
    // An alias points back to its anchor; only what follows is part of this collection.
    where.range.end = std::max(where.range.end, child.range.end);
  }

  const YamlInput& input_;
  const LexedYaml& lexed_;
  uint32_t base_;
  MappingBuilder::Budget& budget_;
  std::vector<SyntaxError>& errors_;
  std::vector<YamlProblem> problems_;
  std::map<std::string, NodePtr> anchors_;
};

struct ParserError {
  std::optional<llvm::SMLoc> where;
  std::string message;
};

void keep_first_error(const llvm::SMDiagnostic& diagnostic, void* context) {
  auto& error = *static_cast<ParserError*>(context);
  if (error.where) return;
  error.where = diagnostic.getLoc();
  error.message = diagnostic.getMessage().str();
}

SyntaxError parser_error(const YamlInput& input, const LexedYaml& lexed, uint32_t begin,
                         const ParserError& error) {
  size_t offset = 0;
  if (error.where && error.where->getPointer() >= lexed.mask.data()) {
    offset = std::min(static_cast<size_t>(error.where->getPointer() - lexed.mask.data()),
                      lexed.mask.size());
  }
  // The parser stumbles over the blanks in front of a token; people look for the token.
  const size_t token = lexed.mask.find_first_not_of(" \n", offset);
  if (token != std::string::npos) offset = token;
  const size_t at = std::min(begin + offset, input.bytes.empty() ? 0 : input.bytes.size() - 1);
  return {input.location(at, at + 1),
          "this does not fit the YAML around it, check the indentation above"};
}

}  // namespace

void read_document(const YamlInput& input, uint32_t begin, uint32_t end,
                   MappingBuilder::Budget& budget, Document& out) {
  const LexedYaml lexed = lex_yaml(input, begin, end);
  for (const YamlProblem& problem : lexed.problems) {
    out.errors.push_back({input.location(problem.offset, problem.offset + 1), problem.message});
  }
  if (!lexed.problems.empty()) return;
  if (lexed.mask.find_first_not_of(" \n") == std::string::npos) return;

  ParserError error;
  llvm::SourceMgr manager;
  manager.setDiagHandler(keep_first_error, &error);
  llvm::yaml::Stream stream(llvm::StringRef(lexed.mask), manager, /*ShowColors=*/false);
  Document read;
  TreeCopier copier(input, lexed, begin, budget, read.errors);
  auto document = stream.begin();
  bool more = false;
  if (document != stream.end()) {
    read.roots.push_back(copier.copy(document->getRoot(), {}));
    if (!stream.failed()) more = ++document != stream.end();  // reads what stands behind the root
  }
  if (stream.failed() || error.where || more) {
    out.errors.push_back(parser_error(input, lexed, begin, error));
    return;
  }
  for (const YamlProblem& problem : copier.take_problems()) {
    read.errors.push_back({input.location(problem.offset, problem.offset + 2), problem.message});
  }
  std::move(read.errors.begin(), read.errors.end(), std::back_inserter(out.errors));
  std::move(read.roots.begin(), read.roots.end(), std::back_inserter(out.roots));
}

}  // namespace kvbudget
