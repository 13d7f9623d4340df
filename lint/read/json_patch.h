// JSON 6902 patches of pods, as kustomize applies them.
#pragma once

#include <string>

#include "lint/read/readers.h"

namespace kvbudget {

/// A list of `{op, path, value}`.
bool is_json_patch(const Node& root);

/// The engines of which the patch gives arguments. What it changes is all that is known of them;
/// `target` names what is patched, it may be empty.
void read_json_patch_of(const YamlFile& yaml, const Node& patch, const std::string& target,
                        FileContents& out);

}  // namespace kvbudget
