// A simple command of a shell script: assignments, words, redirections.
#pragma once

#include <string>
#include <vector>

#include "lint/read/shell_reader.h"
#include "lint/read/shell_words.h"

namespace kvbudget {

class SimpleCommandReader {
 public:
  SimpleCommandReader(ShellReader& reader, ShellScope& scope) : reader_(reader), scope_(scope) {}

  /// `piped`: behind `|`; what the command before read from a here-document goes on to this one.
  void start(bool piped);
  bool empty() const { return command_.words.empty() && assignments_.empty(); }
  std::string first_word() const {
    return command_.words.empty() ? std::string() : command_.words.front().text.str();
  }

  /// Reads a redirection if one stands here. Here-documents are skipped at the end of the line.
  bool placeholder();
  bool redirection();
  void skip_here_documents();
  void assignment_or_word();

  /// Applies the assignments, if the command is run. The command, if there is one besides them.
  const ShellCommand* finish(Truth runs);

 private:
  struct Assignment {
    SourceText name;
    ShellValue value;
    bool append = false;
  };
  struct HereDocument {
    std::string delimiter;
    bool strips_tabs = false;
    bool expands = true;  // the delimiter is not quoted
  };

  bool assignment();
  bool declaration_option();
  bool declared_name(const SourceText& name);
  bool repeats(const SourceText& name) const;
  ShellValue value_behind(const SourceText& name);
  ShellValue plain_value();
  ShellValue array();
  bool process_substitution();
  bool here_document();
  static bool ends(const HereDocument& document, std::string_view line);
  SourceText body_of(const HereDocument& document);
  void apply_assignments(Truth runs);
  void built_in();
  void shift();

  ShellReader& reader_;
  ShellScope& scope_;
  ShellCommand command_;
  std::vector<Assignment> assignments_;
  std::vector<HereDocument> here_documents_;
  size_t next_body_ = 0;      // behind the here-documents of this line that are read
  bool declaration_ = false;  // the command is export, declare, …
  bool exports_ = false;      // … and what it assigns goes to the environment
};

}  // namespace kvbudget
