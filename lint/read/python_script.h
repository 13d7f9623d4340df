// What can be read off a Python script without running it: the calls in it, and values that are
// literals, names assigned once, or environment variables.
#pragma once

#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "lint/read/engine_start.h"

namespace kvbudget {

/// `name(…)`.
struct PythonCall {
  std::string name;      ///< the last part of a dotted name: "LLM" of `vllm.LLM(…)`
  size_t at = 0;         ///< of the name
  size_t arguments = 0;  ///< behind the opening bracket
};

class PythonScript {
 public:
  /// `env` holds the variables that the script can see; it must outlive this.
  PythonScript(const SourceText& text, const std::vector<EnvVar>& env);

  const std::vector<PythonCall>& calls() const { return calls_; }
  /// The keyword arguments of a call as a mapping. Values read like those of YAML ("true" for
  /// True); what is not known is a placeholder, `${expression}`. Null when there is too much of it.
  NodePtr arguments_of(const PythonCall& call) const;
  const SourceText& text() const { return text_; }

 private:
  struct Cursor {
    size_t at = 0;
    int depth = 0;
    size_t* steps = nullptr;  // what is left to do; names can stand for names without end
  };

  void scan();
  size_t scan_name(size_t i, size_t depth, bool at_line_start);
  void scan_assignment(const std::string& name, size_t behind);
  void scan_bound(const PythonCall& call);

  NodePtr value(Cursor& cursor) const;
  NodePtr primary(Cursor& cursor) const;
  NodePtr number(Cursor& cursor) const;
  NodePtr string_literal(Cursor& cursor) const;
  NodePtr collection(Cursor& cursor, char closer) const;
  NodePtr named(Cursor& cursor) const;
  NodePtr variable(const std::string& name, const Cursor& cursor) const;
  NodePtr call(const std::string& name, size_t begin, Cursor& cursor) const;
  NodePtr environment(Cursor& cursor, char closer) const;
  NodePtr arguments(Cursor& cursor) const;
  NodePtr unknown(size_t begin, size_t end) const;

  bool is_at(const Cursor& cursor, char c) const {
    return cursor.at < text_.size() && text_[cursor.at] == c;
  }
  void skip_blanks(Cursor& cursor) const;

  SourceText text_;
  std::map<std::string, const EnvVar*, std::less<>> env_;
  std::map<std::string, std::vector<size_t>, std::less<>> assignments_;  // expressions, by name
  std::map<std::string, size_t, std::less<>> bound_;  // of `.bind(name=…)`, which Ray hands over
  std::vector<PythonCall> calls_;
};

}  // namespace kvbudget
