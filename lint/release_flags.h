// No advice names a flag that the deployment's own release does not have.
#pragma once

#include <string_view>
#include <vector>

#include "lint/deployment.h"
#include "lint/diagnostic.h"

namespace kvbudget {

/// Whether `text` has a word `--name` for a flag of other releases; names that no release of vLLM
/// knows are not its business.
bool names_flag_of_other_release(std::string_view text, Version version);

/// Takes away notes and fixes with such words. Messages keep theirs: they say what was found.
void drop_flags_of_other_releases(const std::vector<Deployment>& deployments,
                                  std::vector<Diagnostic>& findings);

}  // namespace kvbudget
