// A file that `kvbudget plan` wrote, as far as a deployment beside it is compared with it.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace kvbudget {

/// The scheduler that keeps to a plan.
inline constexpr const char* kScheduler = "kvbudget.vllm.make_scheduler";

struct PlanFile {
  std::string path;   ///< as people would look for it
  std::string model;  ///< that it is for
  std::vector<std::string> flags;
  std::string pin_flag;  ///< without dashes: "kv-cache-memory-bytes"
  uint64_t pin_value = 0;
};

/// Nullopt for a text that is no plan.
std::optional<PlanFile> read_plan_file(std::string path, std::string_view text);

/// "kvbudget-plan.json" and "chat.kvbudget-plan.json".
bool is_plan_name(std::string_view name);

}  // namespace kvbudget
