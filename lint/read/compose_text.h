// Variables in compose files.
#pragma once

#include "lint/read/engine_start.h"

namespace kvbudget {

/// Replaces `${X:-default}` by its default and `$$` by `$`. Variables without a default come from
/// the caller's environment: they stay as written and the word is not known.
Word interpolate(const Node& scalar);

}  // namespace kvbudget
