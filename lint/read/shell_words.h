// Shell scripts as a list of commands.
//
// Nothing is run: every command that stands in the script is visited once, in order, with the
// variables as far as they are known at that place (see shell_scope.h for branches).
#pragma once

#include <functional>
#include <vector>

#include "lint/read/shell_scope.h"

namespace kvbudget {

struct ShellCommand {
  std::vector<Word> words;             ///< expanded, redirections left out
  std::vector<EnvVar> env;             ///< assignments in front of it (`FOO=1 vllm serve …`)
  std::vector<SourceText> input = {};  ///< here-documents that it reads, also through `cat <<EOF |`
  std::vector<Word> output = {};       ///< files that it writes
};

using ShellVisitor = std::function<void(const ShellCommand&, ShellScope&)>;

/// Reads the commands of `script`; function bodies, branches and loops are read once, where they
/// stand, also those that are not taken.
void read_shell(const SourceText& script, ShellScope& scope, const ShellVisitor& visit);

/// Splits at blanks; quotes and escapes count, nothing is expanded. Ends at `;`, `&`, `|`, `<`,
/// `>`.
std::vector<Word> split_words(const Word& text);

/// `NAME=value` as a word. Null when it is none.
std::optional<EnvVar> as_assignment(const Word& word);

}  // namespace kvbudget
