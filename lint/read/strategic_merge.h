// One manifest over another, as kustomize, KServe and kubectl merge them.
#pragma once

#include "lint/read/document.h"

namespace kvbudget {

class WorkLimit;

/// Custom resources have no schema that says how their lists merge: kustomize replaces them.
enum class Lists { kMergeNamed, kReplace };

/// `patch` over `base`: mappings merge key by key, null removes a key, lists of named things
/// (containers, env …) merge by name, every other list and scalar is replaced. Either may be null.
/// Returns `base` when the file has used up its work.
NodePtr merge_manifests(const NodePtr& base, const NodePtr& patch, WorkLimit& limit,
                        Lists lists = Lists::kMergeNamed);

}  // namespace kvbudget
