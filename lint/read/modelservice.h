// Values of the chart llm-d-modelservice, however they come about.
#pragma once

#include "lint/read/readers.h"

namespace kvbudget {

/// Adds the engines of `values`, which hold `modelArtifacts` at some depth; false when they do not.
bool read_modelservice_values(const YamlFile& yaml, const Node& values, FileContents& out);

}  // namespace kvbudget
