// What `kvbudget plan` writes: the KV blocks that an engine will have, the flags that see to it,
// and who may use them. The scheduler of the plugin holds the running engine to it.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "lint/deployment.h"
#include "lint/plan/pool.h"

namespace kvbudget::plan {

/// Where the flags of a plan expect it in the engine's container.
inline constexpr const char* kMountedPlan = "/etc/kvbudget/plan.json";

struct Plan {
  std::string model;
  std::string version;
  std::string config_source;  ///< "config.json" or "built-in catalogue"
  std::string config_sha256;
  memory::EngineSettings engine;
  uint32_t block_tokens = 0;
  Pool pool;
  uint64_t usable_blocks = 0;  ///< without the null block and the watermark
  std::string mode;
  uint64_t max_pending = 0;       ///< 0: as many as the ledger takes
  double max_hold_seconds = 0.0;  ///< 0: for ever
  std::vector<Tenant> tenants;
  std::vector<std::string> flags;
};

struct PlanResult {
  std::optional<Plan> plan;
  std::string error;                  ///< why there is none
  std::vector<std::string> warnings;  ///< what the plan takes for granted
};

PlanResult make_plan(const Deployment& deployment, const Admission& admission);

}  // namespace kvbudget::plan
