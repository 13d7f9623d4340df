// Values that a kustomization copies from one manifest into others.
#pragma once

#include "lint/read/kustomize_transform.h"

namespace kvbudget {

/// One entry of `replacements`: a field of the source goes to fields of the targets.
void replace_fields(Manifests& manifests, const Node& replacement, WorkLimit& limit);

/// `vars`: `$(NAME)` stands for a field of some object.
void replace_variables(Manifests& manifests, const Node& variables, WorkLimit& limit);

}  // namespace kvbudget
