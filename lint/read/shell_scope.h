// The variables of a shell script, as far as reading it once from top to bottom can know them.
//
// Control flow is not run, but a condition whose operands are known decides. What branches assign
// that may be taken is merged with what was there before: a variable that is set in one place only
// has that value, values that differ make it unknown, and flags that some branch adds may be there
// or not. An argument of the script (`--port) PORT="$2" ;;`) leaves the default that was there.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "lint/read/engine_start.h"
#include "lint/read/shell_condition.h"

namespace kvbudget {

struct ShellValue {
  /// Of an array, its elements; of a plain variable, pieces that follow each other: one, and
  /// behind it flags (not known) that a branch may have added.
  std::vector<Word> words;
  bool array = false;
  bool known = true;  ///< false: only run time decides; words mean nothing then
};

class ShellScope {
 public:
  /// A variable that the script inherits.
  void inherit(const EnvVar& variable);

  /// Null when the script does not set it and does not inherit it.
  const ShellValue* find(std::string_view name) const;
  void assign(const SourceText& name, ShellValue value);
  void append(const SourceText& name, ShellValue value);
  void set_exported(const SourceText& name);
  void set_unknown(const SourceText& name);
  /// What a command started here would see as its environment, in the order of first assignment.
  std::vector<EnvVar> environment() const;

  void enter_branch();
  /// The condition of the branch is read (`then`, a pattern of `case`); its value if it has one.
  void begin_branch(Truth runs);
  void next_branch();   ///< `elif`, `else`, `;;`
  void leave_branch();  ///< what the branches did is merged
  void drop_branch();   ///< the end of a subshell: what it did is lost
  size_t branch_depth() const { return frames_.size(); }

  /// `$1 …` when they are known (`sh -c SCRIPT NAME ARG…`, `set -- ARG…`); the first is `$0`.
  std::optional<std::vector<Word>> positional;

  /// The script is a word of another shell, which puts values in before this one sees quotes.
  bool filled_in = false;

  /// Limits what expansions may add up to, so that a script cannot blow up. False: no more.
  bool spend(uint64_t bytes);

 private:
  struct Variable {
    SourceText name;
    ShellValue value;
    bool set = false;
    bool exported = false;
    size_t order = 0;
  };
  using Variables = std::map<std::string, Variable>;
  struct Frame {
    Variables before;                 // variables this branch has changed
    std::vector<Variables> outcomes;  // of the branches that are done and may have been taken
    Truth runs;                       // the branch in hand
    bool begun = false;
    bool decided = false;    // a branch is surely taken, if none before it is
    bool is_choice = false;  // whether it is run at all depends on a condition
  };

  Variable& change(const SourceText& name);
  static void merge(Variable& variable, const std::vector<Variable>& outcomes, bool is_choice);
  void restore(Frame& frame);

  std::map<std::string, Variable, std::less<>> variables_;
  Variable overflow_;  // takes what is assigned when there are too many variables
  std::vector<Frame> frames_;
  uint64_t budget_ = uint64_t{4} << 20;
};

}  // namespace kvbudget
