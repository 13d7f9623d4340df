// A reader of shell grammar that is good enough for the scripts that start servers: lists, if,
// case, loops, groups, subshells and functions (POSIX.1-2017, Shell Command Language §2.9).

#include "lint/read/shell_words.h"

#include <algorithm>
#include <map>
#include <string>
#include <string_view>

#include "lint/read/shell_condition.h"
#include "lint/read/simple_command.h"

namespace kvbudget {
namespace {

constexpr size_t kMaxBlocks = 200;      // nested compound commands
constexpr size_t kMaxFunctions = 2000;  // and other commands of one script
constexpr size_t kMaxTestWords = 500;   // of one `[[ … ]]`

enum class Block { kIf, kLoop, kCase, kGroup, kFunction, kSubshell };
enum class Separator { kEnd, kAnd, kOr, kPipe };

/// How a function is called: its arguments, and how often.
struct Calls {
  std::vector<Word> words;
  int count = 0;
};
using FunctionCalls = std::map<std::string, Calls, std::less<>>;

class ScriptReader {
 public:
  ScriptReader(const SourceText& text, ShellScope& scope, const ShellVisitor& visit,
               const FunctionCalls& calls)
      : reader_(text, scope),
        scope_(scope),
        visit_(visit),
        calls_(calls),
        simple_(reader_, scope) {}

  void run() {
    while (!reader_.done() && blocks_.size() < kMaxBlocks) command();
    while (!blocks_.empty()) close(blocks_.back());
  }

 private:
  void command() {
    const Separator joined = separator_;
    const Truth before = status_;
    separator_ = Separator::kEnd;
    own_status_ = std::nullopt;
    negated_ = false;
    simple_.start(joined == Separator::kPipe);
    if (expects_pattern_) return pattern();
    while (!ends() && !expects_pattern_) {
      if (!simple_.redirection() && !reserved_word()) simple_.assignment_or_word();
    }
    const Truth runs = joined == Separator::kAnd  ? before
                       : joined == Separator::kOr ? truth_not(before)
                                                  : Truth(true);
    if (const ShellCommand* command = simple_.finish(runs)) {
      visit_(*command, scope_);
      if (!own_status_) own_status_ = status_of(*command);
    }
    set_status(joined, before);
    if (ends_subshell_) close(Block::kSubshell);
    if (ends_arm_ && !blocks_.empty() && blocks_.back() == Block::kCase) {
      scope_.next_branch();
      expects_pattern_ = true;
    }
    ends_subshell_ = false;
    ends_arm_ = false;
  }

  static Truth status_of(const ShellCommand& command) {
    const std::vector<Word>& words = command.words;
    const std::string_view name = words[0].text.view();
    if (name == "true" || name == ":") return true;
    if (name == "false") return false;
    const bool bracket = name == "[" && words.back().text.view() == "]";
    if (!bracket && name != "test") return std::nullopt;
    return evaluate_test({words.begin() + 1, words.end() - (bracket ? 1 : 0)}, /*patterns=*/false);
  }

  /// The status of the list so far: `a && b`.
  void set_status(Separator joined, Truth before) {
    const Truth own = negated_ ? truth_not(own_status_) : own_status_;
    status_ = joined == Separator::kAnd    ? truth_and(before, own)
              : joined == Separator::kOr   ? truth_or(before, own)
              : joined == Separator::kPipe ? std::nullopt
                                           : own;
  }

  /// True behind the end of the command; what ended it is in `separator_`.
  bool ends() {
    reader_.skip_blanks();
    while (reader_.peek() == '#' || (reader_.peek() == '\n' && reader_.ends_control_line())) {
      reader_.peek() == '#' ? reader_.skip_line() : reader_.advance();
      reader_.skip_blanks();
    }
    if (reader_.done()) return true;
    const char c = reader_.peek();
    const char next = reader_.peek(1);
    if (c == '\n') {
      reader_.advance();
      simple_.skip_here_documents();
      return true;
    }
    if (c == ';') return semicolon();
    if (c == '&' && next != '>') {
      reader_.advance(next == '&' ? 2 : 1);
      if (next == '&') separator_ = Separator::kAnd;
      return true;
    }
    if (c == '|') {
      reader_.advance(next == '|' || next == '&' ? 2 : 1);
      separator_ = next == '|' ? Separator::kOr : Separator::kPipe;
      return true;
    }
    if (c == '(' || c == ')') return parenthesis(c);
    return false;
  }

  bool semicolon() {
    const char next = reader_.peek(1);
    ends_arm_ = next == ';' || next == '&';
    reader_.advance(ends_arm_ ? 2 : 1);
    if (ends_arm_ && reader_.peek() == '&') reader_.advance();
    return true;
  }

  bool parenthesis(char c) {
    reader_.advance();
    if (c == ')') {
      ends_subshell_ = true;
      return true;
    }
    if (simple_.empty()) {
      if (reader_.peek() == '(') {  // arithmetic
        reader_.skip_group(')');
      } else {
        open(Block::kSubshell);
      }
      return true;
    }
    reader_.skip_blanks();
    if (reader_.peek() != ')') return true;
    reader_.advance();
    function_ = simple_.first_word();  // `name ()`
    simple_.start(/*piped=*/false);
    function_follows_ = true;
    return true;
  }

  void open(Block block) {
    blocks_.push_back(block);
    if (block != Block::kGroup) scope_.enter_branch();
  }

  /// The arguments of a function that is called once are known in its body.
  void open_function() {
    open(Block::kFunction);
    outer_arguments_.push_back(scope_.positional);
    const auto calls = calls_.find(function_);
    scope_.positional.reset();
    if (calls != calls_.end() && calls->second.count == 1) scope_.positional = calls->second.words;
  }

  /// Ends the innermost block if it is of that kind; stray closing words are ignored.
  void close(Block block) {
    if (blocks_.empty() || blocks_.back() != block) return;
    blocks_.pop_back();
    if (block == Block::kFunction) {
      scope_.positional = std::move(outer_arguments_.back());
      outer_arguments_.pop_back();
    }
    if (block == Block::kSubshell) {
      scope_.drop_branch();
    } else if (block != Block::kGroup) {
      scope_.leave_branch();
    }
  }

  bool takes_word(std::string_view word) {
    for (size_t i = 0; i < word.size(); ++i) {
      if (reader_.peek(i) != word[i]) return false;
    }
    if (!ends_shell_word(reader_.peek(word.size()))) return false;
    reader_.advance(word.size());
    return true;
  }

  bool reserved_word() {
    if (!simple_.empty()) return false;
    if (takes_word("if")) return opened(Block::kIf);
    if (takes_word("while") || takes_word("until")) return opened(Block::kLoop);
    if (takes_word("for") || takes_word("select")) return for_loop();
    if (takes_word("case")) return case_command();
    if (takes_word("elif")) return next_branch();
    if (takes_word("else")) {
      next_branch();
      return begin_branch(true);  // unless one before it is taken
    }
    if (takes_word("then")) return begin_branch(status_);
    if (takes_word("!")) {
      negated_ = !negated_;
      return true;
    }
    if (takes_word("fi")) return closed(Block::kIf);
    if (takes_word("done")) return closed(Block::kLoop);
    if (takes_word("esac")) return closed(Block::kCase);
    if (takes_word("{")) {
      function_follows_ ? open_function() : open(Block::kGroup);
      function_follows_ = false;
      return true;
    }
    if (takes_word("}")) {
      const bool function = !blocks_.empty() && blocks_.back() == Block::kFunction;
      return closed(function ? Block::kFunction : Block::kGroup);
    }
    if (takes_word("[[")) return test_expression();
    if (takes_word("function")) {
      std::vector<Word> name;
      reader_.skip_blanks();
      reader_.read_word(name);
      function_ = name.empty() ? "" : name.front().text.str();
      function_follows_ = true;
      return true;
    }
    return takes_word("do") || takes_word("time");
  }

  bool opened(Block block) {
    open(block);
    return true;
  }
  bool next_branch() {
    if (!blocks_.empty() && blocks_.back() == Block::kIf) scope_.next_branch();
    return true;
  }
  bool begin_branch(Truth runs) {
    if (!blocks_.empty() && blocks_.back() == Block::kIf) scope_.begin_branch(runs);
    return true;
  }
  bool closed(Block block) {
    close(block);
    return true;
  }

  /// Behind `[[`, in which words are not split.
  bool test_expression() {
    std::vector<Word> words;
    while (!reader_.done() && words.size() < kMaxTestWords) {
      reader_.skip_blanks();
      if (takes_word("]]")) break;
      const size_t start = reader_.position();
      const char c = reader_.peek();
      if (!ends_shell_word(c)) {
        const bool right = !words.empty() && is_comparison(words.back().text.view());
        words.push_back(right ? pattern_word() : reader_.read_value());
        continue;
      }
      reader_.advance((c == '&' || c == '|') && reader_.peek(1) == c ? 2 : 1);
      if (c != '\n') {
        words.push_back({reader_.text().substr(start, reader_.position() - start), true});
      }
    }
    own_status_ = evaluate_test(words, /*patterns=*/true);
    return true;
  }

  static bool is_comparison(std::string_view op) { return op == "==" || op == "=" || op == "!="; }

  Word pattern_word() {
    const bool quoted = reader_.peek() == '"' || reader_.peek() == '\'';
    const Word word = reader_.read_value();
    return quoted ? literal_pattern(word) : word;
  }

  bool for_loop() {
    open(Block::kLoop);
    reader_.skip_blanks();
    if (!is_name_start(reader_.peek())) return true;
    const size_t start = reader_.position();
    while (is_name_char(reader_.peek())) reader_.advance();
    const SourceText name = reader_.text().substr(start, reader_.position() - start);
    std::vector<Word> words;
    reader_.skip_blanks();
    const bool listed = takes_word("in");
    for (reader_.skip_blanks(); listed && !reader_.done(); reader_.skip_blanks()) {
      const char c = reader_.peek();
      if (c == '\n' || c == ';' || c == '&' || c == '|' || c == '(' || c == ')') break;
      if (!simple_.redirection()) reader_.read_word(words);
    }
    if (words.size() == 1 && words[0].known) {
      scope_.assign(name, ShellValue{words, false, true});
    } else {
      scope_.set_unknown(name);
    }
    return true;
  }

  bool case_command() {
    open(Block::kCase);
    reader_.skip_blanks();
    subjects_.resize(static_cast<size_t>(std::count(blocks_.begin(), blocks_.end(), Block::kCase)));
    subjects_.back() = reader_.read_value();
    while (is_shell_blank(reader_.peek()) || reader_.peek() == '\n') reader_.advance();
    takes_word("in");
    expects_pattern_ = true;  // it is read as the next command
    return true;
  }

  /// `a | b)` in a case, or its `esac`.
  void pattern() {
    expects_pattern_ = false;
    Truth fits = false;
    while (!reader_.done()) {
      reader_.skip_blanks();
      const char c = reader_.peek();
      if (c == '#') {
        reader_.skip_line();
      } else if (c == '\n' || c == '(' || c == '|') {
        reader_.advance();
      } else if (c == ')') {
        reader_.advance();
        return scope_.begin_branch(fits);
      } else if (takes_word("esac")) {
        return close(Block::kCase);
      } else {
        const size_t before = reader_.position();
        fits = truth_or(fits, fits_subject(pattern_word()));
        if (reader_.position() == before) reader_.advance();
      }
    }
  }

  Truth fits_subject(const Word& pattern) const {
    if (pattern.text.view() == "*") return true;
    const auto depth = std::count(blocks_.begin(), blocks_.end(), Block::kCase);
    if (depth == 0 || static_cast<size_t>(depth) > subjects_.size()) return std::nullopt;
    const Word& subject = subjects_[static_cast<size_t>(depth) - 1];
    if (!subject.known || !pattern.known) return std::nullopt;
    return fits_pattern(subject.text.view(), pattern.text.view());
  }

  ShellReader reader_;
  ShellScope& scope_;
  const ShellVisitor& visit_;
  const FunctionCalls& calls_;
  SimpleCommandReader simple_;
  std::vector<Block> blocks_;
  std::vector<Word> subjects_;  // of the open cases
  Separator separator_ = Separator::kEnd;
  Truth status_;      // of the list so far
  Truth own_status_;  // of the command in hand, without `!`
  bool negated_ = false;
  std::string function_;                                           // the one that was named last
  bool function_follows_ = false;                                  // behind `name ()`
  std::vector<std::optional<std::vector<Word>>> outer_arguments_;  // of the open functions
  bool expects_pattern_ = false;  // a case begins or an arm has ended
  bool ends_arm_ = false;
  bool ends_subshell_ = false;
};

}  // namespace

void read_shell(const SourceText& script, ShellScope& scope, const ShellVisitor& visit) {
  FunctionCalls calls;
  const std::string_view text = script.view();
  const bool functions = text.find("()") != text.npos || text.find("function ") != text.npos;
  if (functions) {
    const ShellVisitor count = [&](const ShellCommand& command, ShellScope&) {
      if (calls.size() >= kMaxFunctions) return;
      Calls& call = calls[command.words.front().text.str()];
      if (++call.count == 1) call.words = command.words;
    };
    ShellScope unused = scope;
    const FunctionCalls none;
    ScriptReader(script, unused, count, none).run();
  }
  ScriptReader(script, scope, visit, calls).run();
}

}  // namespace kvbudget
