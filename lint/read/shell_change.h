// Expansions that change a variable's text: `${MODEL##*/}`, `${DEVICE,,}`.
#pragma once

#include <optional>
#include <string_view>

#include "lint/read/source.h"

namespace kvbudget {

/// `value` after `change`, which is what stands between the name and the closing brace. Nothing
/// when that is more than `#`, `##`, `%`, `%%` with a plain pattern, `,,` or `^^`.
std::optional<SourceText> changed_text(const SourceText& value, std::string_view change);

}  // namespace kvbudget
