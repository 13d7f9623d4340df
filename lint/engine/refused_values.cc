// Values that stop a start: those that the parser does not take (flags.h), and those that it takes
// and the checks of the engine's configuration refuse. Ranges: the fields and validators of
// vllm/config/{cache,lora,model,offload,parallel,scheduler}.py, 0.9 to 0.33; each row holds from
// the first release whose check was read.
#include <algorithm>
#include <array>
#include <limits>
#include <optional>

#include "lint/engine/flags.h"
#include "lint/engine/settings.h"

namespace kvbudget {
namespace {

constexpr double kNoLimit = std::numeric_limits<double>::infinity();

struct Range {
  std::string_view setting;
  Version since;
  Version removed;
  double least;
  double most;
  std::string_view problem;
};

constexpr Version kNever{999, 0, 0};
constexpr std::array kRanges = {
    Range{"block-size", {0, 24, 0}, kNever, 1, kNoLimit, "below 1"},
    Range{"cpu-offload-gb", {0, 11, 0}, kNever, 0, kNoLimit, "below 0"},
    Range{"data-parallel-size", {0, 24, 0}, kNever, 1, kNoLimit, "below 1"},
    Range{"gpu-memory-utilization", {0, 2, 0}, kNever, 1e-9, 1, "not in the range from 0 to 1"},
    Range{"max-loras", {0, 3, 0}, kNever, 1, kNoLimit, "below 1"},
    Range{"max-model-len", {0, 2, 0}, {0, 14, 0}, 1, kNoLimit, "no length before 0.14.0"},
    Range{"max-model-len", {0, 14, 0}, kNever, -1, kNoLimit, "below -1, which means what fits"},
    Range{"max-num-batched-tokens", {0, 11, 0}, kNever, 1, kNoLimit, "below 1"},
    Range{"max-num-seqs", {0, 11, 0}, kNever, 1, kNoLimit, "below 1"},
    Range{"pipeline-parallel-size", {0, 24, 0}, kNever, 1, kNoLimit, "below 1"},
    Range{"stream-interval", {0, 11, 0}, kNever, 1, kNoLimit, "below 1"},
    Range{"tensor-parallel-size", {0, 24, 0}, kNever, 1, kNoLimit, "below 1"},
};

std::string range_problem(const Settings& settings, const std::string& name, FlagType type) {
  const std::optional<int64_t> whole = settings.integer(name);
  const std::optional<double> value = type == FlagType::kFloat ? settings.real(name)
                                      : whole ? std::optional(static_cast<double>(*whole))
                                              : std::nullopt;
  if (!value) return "";
  for (const Range& range : kRanges) {
    if (range.setting != name) continue;
    if (settings.version < range.since || settings.version >= range.removed) continue;
    if (*value < range.least || *value > range.most) return std::string(range.problem);
  }
  return "";
}

}  // namespace

std::vector<RefusedValue> refused_values(const Settings& settings) {
  std::vector<RefusedValue> refused;
  for (const auto& [name, setting] : settings.all()) {
    const bool parsed = setting.origin == Origin::kFlag ||
                        (setting.origin == Origin::kConfigFile && !settings.keyword_arguments);
    const Flag* const flag = parsed && setting.known ? find_flag(name) : nullptr;
    if (flag == nullptr) continue;
    const FlagType type = flag_kind(*flag, settings.version).type;
    if (type == FlagType::kBool) continue;
    std::string problem = value_problem(*flag, settings.version, setting.value);
    if (problem.empty()) problem = range_problem(settings, name, type);
    if (!problem.empty()) refused.push_back({name, &setting, std::move(problem)});
  }
  return refused;
}

}  // namespace kvbudget
