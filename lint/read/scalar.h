// Turns a scalar as it is written into the value YAML means, each byte with its place in the file.
#pragma once

#include <vector>

#include "lint/read/yaml_lexer.h"

namespace kvbudget {

/// Folds, unescapes, strips indentation and chomps. Escapes that YAML does not know are reported
/// and kept as written.
SourceText decode_scalar(const YamlInput& input, const ScalarToken& token,
                         std::vector<YamlProblem>& problems);

/// Where the value stands, without quotes or block header.
Location scalar_location(const YamlInput& input, const ScalarToken& token);

/// Plain words that mean null (YAML 1.1 type repository, as PyYAML resolves them).
bool means_null(std::string_view plain);

}  // namespace kvbudget
