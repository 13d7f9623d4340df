// --kv-cache-memory-bytes holds for each rank, while every rank ends with the same number of
// blocks: the smallest (get_kv_cache_configs, vllm/v1/core/kv_cache_utils.py). The bytes of N
// blocks on the rank with the largest blocks therefore give N everywhere. From 0.11.1 the other
// ranks then shrink their tensors to N; before, they fill the bytes, which is only good where these
// fit too.
#include "lint/plan/pool.h"

#include <algorithm>

#include "lint/engine/flags.h"
#include "lint/memory/format.h"
#include "lint/memory/layer_specs.h"
#include "lint/memory/plan.h"
#include "lint/memory/plan_rules.h"

namespace kvbudget::plan {
namespace {

using memory::EngineSettings;
using memory::Estimate;

constexpr const char* kBytesFlag = "kv-cache-memory-bytes";
constexpr const char* kBlocksFlag = "num-gpu-blocks-override";

EngineSettings without_pins(EngineSettings settings) {
  settings.kv_cache_memory_bytes.reset();
  settings.num_gpu_blocks_override.reset();
  return settings;
}

/// The file sizes its pool itself, and not by the flags of an earlier plan.
bool has_own_pin(const Deployment& d) {
  const bool pinned = d.engine.kv_cache_memory_bytes || d.engine.num_gpu_blocks_override;
  return pinned && d.settings.text("scheduler-cls") != kScheduler;
}

uint64_t largest_block(const memory::Planner& planner) {
  uint64_t bytes = 0;
  for (size_t rank = 0; rank < planner.num_ranks(); ++rank) {
    bytes = std::max(bytes, planner.block_bytes(rank));
  }
  return bytes;
}

/// The bytes that the pool takes of a rank never exceed what the estimate surely has for it.
bool bytes_fit(const Deployment& d, const Estimate& free, uint64_t bytes) {
  if (memory::rules_for(d.engine.release).shrinks_tensors) return true;
  return std::all_of(free.stages.begin(), free.stages.end(),
                     [&](const memory::SignedInterval& stage) {
                       return stage.low >= 0 && static_cast<uint64_t>(stage.low) >= bytes;
                     });
}

bool gives(const Estimate& e, uint64_t blocks) {
  return e.low.holds_one_request && e.low.num_blocks == blocks && e.best.num_blocks == blocks &&
         e.high.num_blocks == blocks;
}

bool pin_by(const char* flag, uint64_t value, const Deployment& d, Pool& pool) {
  EngineSettings settings = without_pins(d.engine);
  (flag == kBytesFlag ? settings.kv_cache_memory_bytes : settings.num_gpu_blocks_override) = value;
  pool.pinned = memory::estimate(*d.shape, settings, d.card());
  pool.pin_flag = flag;
  pool.pin_value = value;
  return gives(pool.pinned, pool.num_blocks);
}

bool pin(const Deployment& d, Pool& pool) {
  const uint64_t bytes = memory::mul(pool.num_blocks, pool.bytes_per_block);
  const Flag* flag = find_flag(kBytesFlag);
  if (flag != nullptr && flag_exists(*flag, d.version) && bytes_fit(d, pool.free, bytes) &&
      pin_by(kBytesFlag, bytes, d, pool)) {
    return true;
  }
  return pin_by(kBlocksFlag, pool.num_blocks, d, pool);
}

bool is_refused(const Estimate& e) {
  return e.verdict == memory::Verdict::kRefuses || e.verdict == memory::Verdict::kOutOfMemory;
}

/// Why the engine certainly does not start; empty when it may.
std::string refusal(const Deployment& d, const Estimate& free) {
  const bool pinned = d.engine.kv_cache_memory_bytes || d.engine.num_gpu_blocks_override;
  if (!pinned || has_own_pin(d)) return is_refused(*d.estimate) ? d.estimate->because : "";
  if (is_refused(free)) return free.because;
  // With the flags of an earlier plan: a new one replaces its pool, but not what else is wrong.
  const Estimate as_stated = memory::estimate(*d.shape, d.engine, d.card());
  return is_refused(*d.estimate) && d.estimate->because != as_stated.because ? d.estimate->because
                                                                             : "";
}

/// Blocks of the pool at the low end; 0 with the reason where it holds no request.
uint64_t low_blocks(const Deployment& d, const Estimate& free, std::string& error) {
  const bool own = has_own_pin(d);
  const Estimate& e = own ? *d.estimate : free;
  const uint64_t blocks = e.low.num_blocks;
  if (!e.low.holds_one_request) {
    error = "not one request surely fits: " + e.because;
    return 0;
  }
  if (!own) return blocks;
  // Bytes that are given replace the utilisation, so only the card limits them.
  const bool by_bytes = d.engine.kv_cache_memory_bytes.has_value();
  const bool fits =
      by_bytes ? e.obstacle == memory::Obstacle::kNone : blocks <= free.low.num_blocks;
  if (fits) return blocks;
  error = std::string("the file's own --") + (by_bytes ? kBytesFlag : kBlocksFlag) + " asks for " +
          memory::with_commas(blocks) + " blocks, which may not fit; without it " +
          memory::with_commas(free.low.num_blocks) + " do";
  return 0;
}

}  // namespace

std::optional<Pool> find_pool(const Deployment& d, std::string& error) {
  const EngineSettings settings = without_pins(d.engine);
  Pool pool;
  pool.free = memory::estimate(*d.shape, settings, d.card());
  error = refusal(d, pool.free);
  if (!error.empty()) return std::nullopt;
  const memory::Planner planner(memory::plan_input(*d.shape, settings));
  pool.bytes_per_block = largest_block(planner);
  if (pool.bytes_per_block == 0) {
    error = "the model keeps no KV cache";
    return std::nullopt;
  }
  pool.num_blocks = low_blocks(d, pool.free, error);
  if (pool.num_blocks == 0) return std::nullopt;
  if (!pin(d, pool)) {
    error = "no flag of this version pins the pool to " + memory::with_commas(pool.num_blocks) +
            " blocks";
    return std::nullopt;
  }
  pool.request_blocks = planner.request_blocks(pool.pinned.max_model_len);
  return pool;
}

}  // namespace kvbudget::plan
