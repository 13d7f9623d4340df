// The fix that most rules end on: another value for a setting that the file states.
#pragma once

#include <string>
#include <string_view>

#include "lint/deployment.h"
#include "lint/diagnostic.h"

namespace kvbudget {

/// Proposes `value` for `setting` (unsafe: it changes what the service does). Without a value of
/// the setting in the file there is nothing to replace, and nothing is proposed.
void propose_value(const Deployment& d, std::string_view setting, const std::string& value,
                   Diagnostic& finding);

/// Proposes one more argument (unsafe), behind the last one of a list that the file spells out.
void propose_argument(const Deployment& d, const std::string& argument, Diagnostic& finding);

/// The same, but says to add the flag where the file does not state the setting.
void suggest_value(const Deployment& d, std::string_view setting, const std::string& value,
                   Diagnostic& finding);

}  // namespace kvbudget
