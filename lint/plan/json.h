// The plan as the file that the plugin reads.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "lint/plan/plan.h"
#include "lint/report/json.h"

namespace kvbudget::plan {

Json plan_json(const Plan& plan);

/// The value of --additional-config: what the file gives, if it is an object, and where the plan
/// is.
std::string additional_config(std::string_view before, const std::string& mode);

/// Nullopt for a text that is no JSON object.
std::optional<Json> parse_plan(std::string_view text);
/// The admission mode of a plan, empty where it has none.
std::string mode_of(const Json& plan);

}  // namespace kvbudget::plan
