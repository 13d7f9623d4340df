// Settings that stand in a file as keys and values instead of flags.
#pragma once

#include <string_view>
#include <vector>

#include "lint/read/engine_start.h"

namespace kvbudget {

/// `entry` under the name that the engine has for it; its place stays that of the key as written.
ConfigKey renamed_key(const Entry& entry, std::string_view name);

/// False when a placeholder (`${X}`, `$X`) stands in the value or anywhere below it.
bool is_known(const Node& value);

/// All entries of a mapping, as they stand.
void add_keys(const Node& mapping, std::vector<ConfigKey>& out);

/// The words of a list of flags; anything that is no scalar is left out.
void add_words(const Node* list, std::vector<Word>& argv);

/// A mapping from names to values as environment.
void add_variables(const Node* mapping, std::vector<EnvVar>& env);

/// The image, if the node is a scalar.
void set_image(const Node* image, EngineStart& start);

}  // namespace kvbudget
