// After POSIX.1-2017, Shell Command Language §2.7 and §2.9.1, with bash's arrays and `declare`.

#include "lint/read/simple_command.h"

#include <algorithm>
#include <array>
#include <string_view>

namespace kvbudget {
namespace {

constexpr size_t kMaxDocuments = 20;  // here-documents of one command
constexpr size_t kMaxWords = 20'000;  // of one command; Linux allows some more, people far fewer

bool is_declaration(std::string_view word) {
  static constexpr std::array<std::string_view, 5> kCommands = {"export", "declare", "local",
                                                                "readonly", "typeset"};
  return std::find(kCommands.begin(), kCommands.end(), word) != kCommands.end();
}

/// A value that holds nothing but one expansion is no better than an unset variable.
bool only_expansion(std::string_view text) {
  if (text.empty() || (text[0] != '$' && text[0] != '`')) return false;
  return text.find_first_of(" \n") == std::string_view::npos ||
         text.find("$(") != std::string_view::npos;
}

}  // namespace

void SimpleCommandReader::start(bool piped) {
  std::vector<SourceText> input;
  if (piped) input = std::move(command_.input);
  command_ = {};
  command_.input = std::move(input);
  assignments_.clear();
  declaration_ = false;
  exports_ = false;
}

void SimpleCommandReader::assignment_or_word() {
  if (assignment()) return;
  reader_.read_word(command_.words);
  if (command_.words.size() > kMaxWords) command_.words.resize(kMaxWords);
}

const ShellCommand* SimpleCommandReader::finish(Truth runs) {
  const bool only_assignments = command_.words.empty();
  for (const Assignment& item : assignments_) {
    if (only_assignments || declaration_) break;
    const bool plain = item.value.words.size() == 1 && item.value.known;
    EnvVar& variable = command_.env.emplace_back();
    variable.name = item.name;
    variable.known = plain && item.value.words[0].known;
    if (!item.value.words.empty()) variable.value = item.value.words[0].text;
  }
  if (only_assignments || declaration_) apply_assignments(runs);
  if (only_assignments) return nullptr;
  built_in();
  return &command_;
}

void SimpleCommandReader::apply_assignments(Truth runs) {
  scope_.enter_branch();
  scope_.begin_branch(runs);
  for (Assignment& item : assignments_) {
    if (item.append) {
      scope_.append(item.name, std::move(item.value));
    } else {
      scope_.assign(item.name, std::move(item.value));
    }
    if (exports_) scope_.set_exported(item.name);
  }
  scope_.leave_branch();
}

/// `$0` stays.
void SimpleCommandReader::shift() {
  const bool plain = command_.words.size() == 1 && scope_.positional && scope_.branch_depth() <= 1;
  if (!plain || scope_.positional->size() < 2) return scope_.positional.reset();
  scope_.positional->erase(scope_.positional->begin() + 1);
}

/// Commands that change variables.
void SimpleCommandReader::built_in() {
  const std::string_view name = command_.words[0].text.view();
  if (name == "set" && command_.words.size() > 1 && command_.words[1].text.view() == "--") {
    scope_.positional.emplace(command_.words.begin() + 1, command_.words.end());
  } else if (name == "shift") {
    shift();
  } else if (name == "read" || name == "mapfile" || name == "readarray") {
    for (size_t i = 1; i < command_.words.size(); ++i) {
      const SourceText& word = command_.words[i].text;
      if (!word.empty() && is_name_start(word[0])) scope_.set_unknown(word);
    }
  }
}

bool SimpleCommandReader::assignment() {
  const bool starts = command_.words.empty();
  if (!starts && !declaration_) {
    declaration_ = command_.words.size() == 1 && command_.env.empty() && assignments_.empty() &&
                   is_declaration(command_.words[0].text.view());
    if (!declaration_) return false;
    exports_ = command_.words[0].text.view() == "export";
  }
  size_t end = 0;
  if (!is_name_start(reader_.peek())) {
    if (declaration_ && reader_.peek() == '-') return declaration_option();
    return false;
  }
  while (is_name_char(reader_.peek(end))) ++end;
  const SourceText name = reader_.text().substr(reader_.position(), end);
  bool element = false;
  if (reader_.peek(end) == '[') {
    while (reader_.peek(end) != ']' && reader_.peek(end) != '\n' && reader_.peek(end) != '\0')
      ++end;
    ++end;
    element = true;
  }
  const bool append = reader_.peek(end) == '+' && reader_.peek(end + 1) == '=';
  if (!append && reader_.peek(end) != '=') return declared_name(name);
  reader_.advance(end + (append ? 2 : 1));
  Assignment item;
  item.name = name;
  item.append = append || repeats(name);
  if (reader_.peek() == '(') {
    item.value = array();
  } else {
    item.value = item.append == append ? plain_value() : value_behind(name);
  }
  if (element) item.value.known = false;
  assignments_.push_back(std::move(item));
  return true;
}

bool SimpleCommandReader::declaration_option() {
  std::vector<Word> option;
  reader_.read_word(option);
  for (const Word& word : option) {
    exports_ = exports_ || word.text.view().find('x') != std::string_view::npos;
  }
  return true;
}

/// `export NAME` without a value.
bool SimpleCommandReader::declared_name(const SourceText& name) {
  if (!declaration_) return false;
  if (exports_) scope_.set_exported(name);
  std::vector<Word> ignored;
  reader_.read_word(ignored);
  return true;
}

ShellValue SimpleCommandReader::plain_value() {
  ShellValue value;
  value.words.push_back(reader_.read_value());
  const Word& word = value.words.front();
  value.known = word.known || !only_expansion(word.text.view());
  return value;
}

/// `ARGS="$ARGS --more"` is `ARGS+=" --more"`.
bool SimpleCommandReader::repeats(const SourceText& name) const {
  const ShellValue* value = scope_.find(name.view());
  if (value == nullptr || !value->known || value->array) return false;
  std::string_view rest = reader_.text().view().substr(reader_.position());
  const size_t quote = rest.starts_with('"') ? 1 : 0;
  rest = rest.substr(0, quote == 1 ? rest.find('"', 1) : rest.find_first_of(" \t\n;&|"));
  bool begins = false;
  int times = 0;
  for (const std::string_view opening : {"$", "${"}) {
    const std::string text = std::string(opening) + name.str();
    for (size_t at = rest.find(text); at != rest.npos; at = rest.find(text, at + 1)) {
      ++times;
      const char next = at + text.size() < rest.size() ? rest[at + text.size()] : '\0';
      const bool plain = opening == "$" ? !is_name_char(next) : next == '}';
      begins = begins || (plain && at == quote);
    }
  }
  return begins && times == 1;
}

/// What follows the variable's own value in the value that it gets.
ShellValue SimpleCommandReader::value_behind(const SourceText& name) {
  const ShellValue own = *scope_.find(name.view());
  scope_.assign(name, ShellValue{{}, false, true});
  ShellValue value = plain_value();
  scope_.assign(name, own);
  return value;
}

ShellValue SimpleCommandReader::array() {
  ShellValue value;
  value.array = true;
  reader_.advance();
  while (!reader_.done()) {
    reader_.skip_blanks();
    const char c = reader_.peek();
    if (c == ')') {
      reader_.advance();
      break;
    }
    if (c == '#') {
      reader_.skip_line();
    } else if (c == '\n' || c == ';' || c == '&' || c == '|' || c == '<' || c == '>' || c == '(') {
      reader_.advance();
    } else {
      reader_.read_word(value.words);
    }
  }
  return value;
}

/// `<your-model>`: text that whoever copies the command replaces, and no redirection.
bool SimpleCommandReader::placeholder() {
  size_t end = 1;
  while (is_name_char(reader_.peek(end)) || reader_.peek(end) == '-') ++end;
  if (end == 1 || reader_.peek(end) != '>') return false;
  const char behind = reader_.peek(end + 1);
  if (!is_shell_blank(behind) && behind != '\n' && behind != '\\' && behind != '\0') return false;
  const size_t start = reader_.position();
  reader_.advance(end + 1);
  command_.words.push_back({reader_.text().substr(start, end + 1), false});
  return true;
}

bool SimpleCommandReader::redirection() {
  if (reader_.peek() == '<' && placeholder()) return true;
  size_t at = 0;
  while (reader_.peek(at) >= '0' && reader_.peek(at) <= '9') ++at;
  const bool both = at == 0 && reader_.peek() == '&' && reader_.peek(1) == '>';
  if (both) at = 1;
  const char c = reader_.peek(at);
  const char stream = reader_.peek();
  if (c != '<' && c != '>') return false;
  reader_.advance(at + 1);
  if (reader_.peek() == '(') return process_substitution();
  if (c == '<' && reader_.peek() == '<') {
    reader_.advance();
    if (reader_.peek() != '<') return here_document();
  }
  while (std::string_view("<>&|").find(reader_.peek()) != std::string_view::npos &&
         reader_.peek() != '\0') {
    reader_.advance();
  }
  reader_.skip_blanks();
  const bool output = c == '>' && (at == 0 || both || (at == 1 && stream == '1'));
  std::vector<Word> target;
  reader_.read_word(target);
  if (output && target.size() == 1) command_.output.push_back(std::move(target.front()));
  return true;
}

bool SimpleCommandReader::process_substitution() {
  const size_t start = reader_.position() - 1;  // at `<` or `>`
  reader_.advance();
  reader_.skip_group(')');
  const size_t end = reader_.position();
  command_.words.push_back({reader_.text().substr(start, end - start), false});
  return true;
}

bool SimpleCommandReader::here_document() {
  HereDocument document;
  if (reader_.peek() == '-') {
    document.strips_tabs = true;
    reader_.advance();
  }
  reader_.skip_blanks();
  char quote = '\0';
  while (!reader_.done() && (quote != '\0' || !ends_shell_word(reader_.peek()))) {
    const char c = reader_.peek();
    reader_.advance();
    if (c == '\'' || c == '"' || c == '\\') document.expands = false;
    if (c == quote) {
      quote = '\0';
    } else if (quote == '\0' && (c == '\'' || c == '"')) {
      quote = c;
    } else if (c != '\\') {
      document.delimiter += c;
    }
  }
  if (command_.input.size() < kMaxDocuments) command_.input.push_back(body_of(document));
  here_documents_.push_back(std::move(document));
  return true;
}

bool SimpleCommandReader::ends(const HereDocument& document, std::string_view line) {
  while (document.strips_tabs && !line.empty() && line[0] == '\t') line.remove_prefix(1);
  if (!line.empty() && line.back() == '\r') line.remove_suffix(1);
  return line == document.delimiter;
}

/// The lines of a here-document, which begin below this line.
SourceText SimpleCommandReader::body_of(const HereDocument& document) {
  const SourceText& text = reader_.text();
  const std::string_view bytes = text.view();
  size_t at = std::max(reader_.position(), next_body_);
  if (next_body_ <= reader_.position()) {
    do {
      at = std::min(bytes.find('\n', at), bytes.size() - 1) + 1;
    } while (at < bytes.size() && at >= 2 && bytes[at - 2] == '\\');
  }
  SourceText body = SourceText::empty_at(text.file(), {text.offset(at), text.offset(at)});
  while (at < bytes.size()) {
    const size_t end = std::min(bytes.find('\n', at), bytes.size() - 1) + 1;
    std::string_view line = bytes.substr(at, end - at);
    if (line.ends_with('\n')) line.remove_suffix(1);
    const bool last = ends(document, line);
    size_t begin = at;
    at = end;
    if (last) break;
    while (document.strips_tabs && begin < end && bytes[begin] == '\t') ++begin;
    body.append(text.substr(begin, end - begin));
  }
  next_body_ = at;
  return document.expands ? ShellReader(body, scope_).read_document() : body;
}

void SimpleCommandReader::skip_here_documents() {
  for (const HereDocument& document : here_documents_) {
    while (!reader_.done()) {
      const size_t start = reader_.position();
      reader_.skip_line();
      const std::string_view line = reader_.text().view().substr(start, reader_.position() - start);
      reader_.advance();
      if (ends(document, line)) break;
    }
  }
  here_documents_.clear();
}

}  // namespace kvbudget
