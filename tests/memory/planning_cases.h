// Reads the cases of vLLM's own planning answers (format: the README beside them) as our planner's
// input, and collects what differs.
#pragma once

#include <cstdint>
#include <filesystem>
#include <map>
#include <nlohmann/json.hpp>
#include <sstream>
#include <string>

#include "lint/memory/plan.h"
#include "tests/support/shared.h"

namespace kvbudget::memory {

using nlohmann::json;

/// Mamba states by shapes and types, so that equal ones get equal ids.
using StateIds = std::map<std::string, uint32_t>;

CacheSpec read_planning_spec(const json& from, StateIds& states);

/// Everything but the layers.
void read_planning_limits(const json& from, PlanInput& input);

PlanInput read_planning_input(const json& from, uint32_t release);

const char* reason_of(Refusal refusal);

/// Collects what differs, as "field: ours, theirs".
class Differences {
 public:
  template <typename T>
  void compare(const std::string& field, const T& ours, const json& theirs) {
    const json own = ours;
    if (own != theirs) text_ << field << ": " << own.dump() << ", vLLM " << theirs.dump() << "; ";
  }
  std::string text() const { return text_.str(); }

 private:
  std::ostringstream text_;
};

/// A plan for one of `plans` of a real model against what vLLM answered. `groups` of the corpus:
/// equal neighbours are one entry with `times`.
void compare_real_plan(const Planner& planner, const json& theirs, const json& groups,
                       Differences& differences);

/// A file or, for "", the folder of the cases in the shared collection.
inline std::filesystem::path planning_path(const char* file) {
  return test::shared_path("groundtruth/vllm-planning") / file;
}

/// "0.19.1" is 1901.
uint32_t release_number(const std::string& version);

}  // namespace kvbudget::memory
