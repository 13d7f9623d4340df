#include "rules/meant_value.h"

#include <algorithm>
#include <array>

#include "lint/engine/json_text.h"
#include "lint/engine/nearest.h"
#include "lint/engine/numbers.h"
#include "lint/read/text.h"

namespace kvbudget {
namespace {

// What people write for a choice that has another name.
constexpr std::array<std::array<std::string_view, 2>, 3> kOtherNames = {
    {{"fp16", "half"}, {"bf16", "bfloat16"}, {"fp32", "float32"}}};

std::string nearest_choice(const std::vector<std::string_view>& choices, std::string_view value) {
  for (const auto& [theirs, ours] : kOtherNames) {
    const bool listed = std::find(choices.begin(), choices.end(), ours) != choices.end();
    if (lower(value) == theirs && listed) return std::string(ours);
  }
  return std::string(nearest(value, choices));
}

// "0.9" for 90.
std::string share_text(double percent) {
  const int whole = static_cast<int>(percent);
  if (percent < 1 || percent > 100 || percent != whole) return "";
  if (whole == 100) return "1.0";
  return (whole < 10 ? "0.0" : "0.") + std::to_string(whole);
}

std::string whole_number(std::string text, Version version) {
  std::erase(text, ',');
  if (python_int(text)) return text;
  // Decimals and exponents that are whole numbers after all: 1e4, 8192.0.
  if (const auto real = python_float(text); real && *real >= 0 && *real < 1e15) {
    const auto whole = static_cast<int64_t>(*real);
    return static_cast<double>(whole) == *real ? std::to_string(whole) : "";
  }
  const auto human = human_int(text, FlagType::kHumanInt, version);
  return human ? std::to_string(*human) : "";
}

std::string share(std::string_view text) {
  if (text.ends_with('%')) text.remove_suffix(1);
  const auto percent = python_float(text);
  return percent && *percent > 1 ? share_text(*percent) : "";
}

// Python prints dictionaries with single quotes.
std::string with_double_quotes(const std::string& value) {
  std::string text = value;
  std::replace(text.begin(), text.end(), '\'', '"');
  return text != value && is_json(text) ? text : "";
}

}  // namespace

std::string meant_value(const Deployment& d, const RefusedValue& refused, const Flag& flag) {
  const std::string& given = refused.setting->value;
  const FlagKind kind = flag_kind(flag, d.version);
  std::string meant;
  if (kind.type == FlagType::kEnum) {
    meant = nearest_choice(flag_choices(flag, d.version), given);
  } else if (kind.is_json()) {
    meant = with_double_quotes(given);
  } else if (refused.name == "gpu-memory-utilization") {
    meant = share(given);
  } else if (kind.type != FlagType::kFloat) {
    meant = whole_number(given, d.version);
  }
  return meant == given ? "" : meant;
}

}  // namespace kvbudget
