// A container as every orchestrator describes it: image, entrypoint, arguments, environment.
#pragma once

#include <string_view>
#include <vector>

#include "lint/read/engine_start.h"
#include "lint/read/shell_scope.h"

namespace kvbudget {

struct Container {
  std::vector<Word> words;      ///< entrypoint and arguments
  bool has_entrypoint = false;  ///< false: the image decides what runs, `words` are its arguments
};

/// The engines the container starts: mostly none or one, more when its script has several branches.
/// `base` holds what is known beside the command line: image, environment, GPUs, replicas, names.
void add_container_starts(const Container& container, const EngineStart& base, FileContents& out);

/// The engines that a script starts. What `scope` holds beside the file (variables of the platform)
/// is no environment that anybody wrote.
void add_script_starts(const SourceText& script, ShellScope scope, const EngineStart& base,
                       FileContents& out);

/// Text whose value a template or variable decides is not known.
Word word_of(const Node& scalar);

/// A scalar that no template decides.
std::optional<Located<std::string>> located_text(const Node* node);

/// A whole number, when the node is a scalar that is one.
std::optional<Located<uint32_t>> number_of(const Node* node);

}  // namespace kvbudget
