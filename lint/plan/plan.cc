#include "lint/plan/plan.h"

#include <algorithm>
#include <utility>

#include "lint/engine/flags.h"
#include "lint/memory/format.h"
#include "lint/models/catalogue.h"
#include "lint/plan/json.h"
#include "lint/report/report.h"

namespace kvbudget::plan {
namespace {

using memory::with_commas;

/// Why the plugin's scheduler cannot run in that engine; empty when it can.
std::string scheduler_error(const Deployment& d) {
  if (d.engine.v0_engine) return "the engine before V1 takes no scheduler of ours";
  for (const char* name : {"scheduler-cls", "additional-config"}) {
    const Flag* flag = find_flag(name);
    if (flag == nullptr || !flag_exists(*flag, d.version)) {
      return "vLLM " + d.version.str() + " has no --" + name;
    }
  }
  return "";
}

// KVCacheManager.__init__ (vllm/v1/core/kv_cache_manager.py), from 0.24; 0 unless the flag is set.
uint64_t watermark_blocks(const Deployment& d, uint64_t num_blocks) {
  const double share = d.watermark();
  return static_cast<uint64_t>(share * static_cast<double>(num_blocks));
}

// What cache_config.block_size is when the scheduler is built: from 0.18 the smallest of all groups
// (EngineCore._initialize_kv_caches, vllm/v1/engine/core.py), before it what attention has.
uint32_t block_tokens(const Deployment& d, const memory::Estimate& e) {
  const bool of_all = d.engine.release.at_least(18);
  std::optional<uint32_t> smallest;
  for (const memory::CacheGroup& group : e.groups) {
    if (!of_all && group.kind != "full" && group.kind != "mla") continue;
    smallest = std::min(smallest.value_or(group.block_tokens), group.block_tokens);
  }
  return smallest.value_or(d.engine.block_tokens);
}

std::string take_admission(const Admission& admission, Plan& plan) {
  plan.mode = admission.mode.value_or("strict");
  plan.max_pending = admission.max_pending.value_or(0);
  plan.max_hold_seconds = admission.max_hold_seconds.value_or(0.0);
  plan.tenants = admission.tenants.value_or(std::vector<Tenant>());
  uint64_t minima = 0;
  for (Tenant& tenant : plan.tenants) {
    minima = memory::add(minima, tenant.min_blocks);
    if (!tenant.max_blocks) tenant.max_blocks = plan.usable_blocks;
    if (*tenant.max_blocks <= plan.usable_blocks) continue;
    return "tenant '" + tenant.name + "': max-blocks " + with_commas(*tenant.max_blocks) +
           " is more than the " + with_commas(plan.usable_blocks) + " usable blocks";
  }
  if (minima <= plan.usable_blocks) return "";
  return "the tenants' min-blocks are " + with_commas(minima) + " together, " +
         with_commas(plan.usable_blocks) + " blocks are usable";
}

/// Usable blocks, or why they do not do.
std::string take_pool(const Deployment& d, Plan& plan) {
  const uint64_t blocks = plan.pool.num_blocks;
  const uint64_t kept = memory::add(watermark_blocks(d, blocks), 1);
  plan.usable_blocks = memory::less(blocks, kept);
  if (plan.usable_blocks != 0 && plan.pool.request_blocks <= plan.usable_blocks) return "";
  return "one request of " + with_commas(plan.pool.pinned.max_model_len) + " tokens takes " +
         with_commas(plan.pool.request_blocks) + " blocks, " + with_commas(plan.usable_blocks) +
         " of " + with_commas(blocks) + " are usable";
}

void add_flags(const Deployment& d, PlanResult& result) {
  Plan& plan = *result.plan;
  const Pool& pool = plan.pool;
  plan.flags = {"--" + pool.pin_flag + "=" + std::to_string(pool.pin_value),
                std::string("--scheduler-cls=") + kScheduler};
  const Setting* stated = d.settings.find("additional-config");
  const std::string before = stated != nullptr && stated->known ? stated->value : "";
  if (stated != nullptr && !stated->known) {
    result.warnings.emplace_back(
        "the file's own --additional-config is decided elsewhere; add its keys to the plan's");
  }
  plan.flags.push_back("--additional-config=" + additional_config(before, plan.mode));
}

void warn(const Deployment& d, PlanResult& result) {
  const Plan& plan = *result.plan;
  if (d.version_assumed) {
    result.warnings.push_back("no release is named; the plan is for vLLM " + plan.version);
  }
  if (plan.pool.pinned.obstacle != memory::Obstacle::kNone) {
    result.warnings.push_back("it is not sure that the engine starts: " + plan.pool.pinned.because);
  }
}

}  // namespace

PlanResult make_plan(const Deployment& d, const Admission& admission) {
  PlanResult result;
  if (!d.estimate) result.error = missing_text(d);
  if (result.error.empty()) result.error = scheduler_error(d);
  if (!result.error.empty()) return result;
  std::optional<Pool> pool = find_pool(d, result.error);
  if (!pool) return result;
  Plan plan;
  plan.pool = std::move(*pool);
  result.error = take_pool(d, plan);
  if (result.error.empty()) result.error = take_admission(admission, plan);
  if (!result.error.empty()) return result;
  plan.model = d.model;
  plan.version = d.version.str();
  plan.config_sha256 = d.config_sha256;
  plan.config_source = d.config_source == kBuiltInSource ? kBuiltInSource : "config.json";
  plan.engine = d.engine;
  plan.block_tokens = block_tokens(d, plan.pool.pinned);
  result.plan = std::move(plan);
  add_flags(d, result);
  warn(d, result);
  return result;
}

}  // namespace kvbudget::plan
