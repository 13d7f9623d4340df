// What can be read off a Python script without running it: the calls in it, what names stand for,
// and values that are literals, names assigned once, or environment variables.
#pragma once

#include <map>
#include <set>
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
  std::string object{};  ///< what stands in front of the last dot: "vllm"
};

/// `name = value`, `name += value`, or `return value`, whose name is empty.
struct PythonAssignment {
  std::string name;
  size_t at = 0;     ///< of the name
  size_t value = 0;  ///< behind the sign
  bool adds = false;
};

class PythonScript {
 public:
  explicit PythonScript(const SourceText& text);

  /// From here on the script can see the variables of `env`, which must outlive this.
  void see(const std::vector<EnvVar>& env);

  const std::vector<PythonCall>& calls() const { return calls_; }
  const std::vector<PythonAssignment>& assignments() const { return assigned_; }
  /// The keyword arguments of a call as a mapping, whose items are the others. Values read like
  /// those of YAML ("true" for True); what is not known is a placeholder, `${expression}`. Null
  /// when there is too much of it.
  NodePtr arguments_of(const PythonCall& call) const;
  /// The expression at a place, likewise.
  NodePtr value_at(size_t at) const;
  /// What `os.environ["NAME"] = value` sets; not known when it is set more than once.
  std::vector<EnvVar> environment_set() const;
  /// Where the values of keyword arguments called `gpu` stand.
  const std::vector<size_t>& gpus() const { return gpus_; }
  const SourceText& text() const { return text_; }
  /// Bytes of parameters, targets and imports; where there are more, no name is known.
  static constexpr size_t kMaxHeaders = 1 << 21;

 private:
  struct Cursor {
    size_t at = 0;
    int depth = 0;
    size_t* steps = nullptr;  // what is left to do; names can stand for names without end
    bool bracketed = true;    // a line break ends nothing
  };

  void scan();
  size_t scan_name(size_t i, size_t depth, bool at_line_start);
  void scan_statement(size_t begin, size_t end);
  void scan_keyword(std::string_view word, size_t behind);
  void scan_assignment(size_t begin, size_t end);
  void scan_bound(const PythonCall& call);
  void rebind(size_t begin, size_t end);

  NodePtr value(Cursor& cursor) const;
  NodePtr primary(Cursor& cursor) const;
  NodePtr number(Cursor& cursor) const;
  NodePtr string(Cursor& cursor) const;
  NodePtr string_literal(Cursor& cursor, std::string_view prefix) const;
  bool append_part(const SourceText& inner, size_t& k, Cursor& cursor, SourceText& out) const;
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
  bool at_string(size_t at) const;
  bool ends_expression(const Cursor& cursor) const;
  void skip_blanks(Cursor& cursor) const;

  SourceText text_;
  std::map<std::string, const EnvVar*, std::less<>> env_;
  std::map<std::string, std::vector<size_t>, std::less<>> assignments_;  // expressions, by name
  std::map<std::string, size_t, std::less<>> bound_;  // of `.bind(name=…)`, which Ray hands over
  // Names that stand for something else somewhere: parameters, targets of loops, imports.
  std::set<std::string, std::less<>> rebound_;
  std::set<std::string, std::less<>> changed_;  // lists and mappings that a statement changes
  size_t headers_ = 0;                          // bytes that were looked at for such names
  std::vector<PythonAssignment> assigned_;
  std::vector<size_t> environment_;  // behind the bracket of `environ[`, where it is assigned to
  std::vector<size_t> gpus_;
  std::vector<PythonCall> calls_;
};

}  // namespace kvbudget
