#include "lint/plan_file.h"

#include <charconv>
#include <nlohmann/json.hpp>
#include <utility>

namespace kvbudget {
namespace {

using Json = nlohmann::json;

/// Of "--kv-cache-memory-bytes=1024"; false for other flags.
bool read_pin(std::string_view flag, PlanFile& plan) {
  for (const std::string_view name : {"kv-cache-memory-bytes", "num-gpu-blocks-override"}) {
    const std::string prefix = "--" + std::string(name) + "=";
    if (!flag.starts_with(prefix)) continue;
    const std::string_view digits = flag.substr(prefix.size());
    const char* end = digits.data() + digits.size();
    const auto [rest, error] = std::from_chars(digits.data(), end, plan.pin_value);
    if (error != std::errc() || rest != end) return false;
    plan.pin_flag = name;
    return true;
  }
  return false;
}

}  // namespace

std::optional<PlanFile> read_plan_file(std::string path, std::string_view text) {
  const Json json = Json::parse(text, nullptr, /*allow_exceptions=*/false);
  if (!json.is_object()) return std::nullopt;
  const auto model = json.find("model");
  const auto flags = json.find("flags");
  if (model == json.end() || !model->is_string() || flags == json.end() || !flags->is_array() ||
      !json.contains("usable_blocks")) {
    return std::nullopt;
  }
  PlanFile plan;
  plan.path = std::move(path);
  plan.model = model->get<std::string>();
  bool pinned = false;
  for (const Json& flag : *flags) {
    if (!flag.is_string()) return std::nullopt;
    plan.flags.push_back(flag.get<std::string>());
    pinned = read_pin(plan.flags.back(), plan) || pinned;
  }
  return pinned ? std::optional(std::move(plan)) : std::nullopt;
}

bool is_plan_name(std::string_view name) {
  return name == "kvbudget-plan.json" || name.ends_with(".kvbudget-plan.json");
}

}  // namespace kvbudget
