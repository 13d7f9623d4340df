// Where KServe's engines find their weights: every server loads /mnt/models, and `uri` says what
// KServe puts there.
#pragma once

#include <string>
#include <vector>

#include "lint/read/document.h"
#include "lint/read/engine_start.h"

namespace kvbudget {

/// The model of `uri`: "org/name" of hf://org/name, else the folder, standing at the uri.
Word mounted_model(const Node& uri);

/// Words that load the folder load what `uri` names instead.
void name_mounted_model(const Node& uri, std::vector<Word>& argv);

}  // namespace kvbudget
