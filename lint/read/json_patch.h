// JSON 6902 patches of pods, as kustomize applies them.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "lint/read/readers.h"

namespace kvbudget {

/// The parts of a JSON pointer, unescaped.
std::vector<std::string> split_pointer(std::string_view path);

/// A list of `{op, path, value}`.
bool is_json_patch(const Node& root);

/// The manifest with the operations done to it; those that do not fit are left out.
NodePtr apply_json_patch(const NodePtr& manifest, const Node& patch);

/// The engines of which the patch gives arguments. What it changes is all that is known of them;
/// `target` names what is patched, it may be empty.
void read_json_patch_of(const YamlFile& yaml, const Node& patch, const std::string& target,
                        FileContents& out);

}  // namespace kvbudget
