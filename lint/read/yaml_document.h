// One YAML document of a text, for yaml_stream.cc.
#pragma once

#include "lint/read/mapping.h"
#include "lint/read/yaml_lexer.h"

namespace kvbudget {

/// Reads bytes [begin, end) of `input`. A document that cannot be read adds its first error and no
/// root.
void read_document(const YamlInput& input, uint32_t begin, uint32_t end,
                   MappingBuilder::Budget& budget, Document& out);

}  // namespace kvbudget
