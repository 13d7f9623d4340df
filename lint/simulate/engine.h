// A model of continuous batching: an engine that schedules as vLLM's V1 scheduler does, over a pool
// of KV blocks, with steps that take as long as their work. Only what decides about blocks is
// modelled; no model is run.
//
// Followed: vllm/v1/core/sched/scheduler.py and vllm/v1/core/kv_cache_manager.py, 0.24 to 0.33:
// running requests go first and preempt the last of them when a block is wanting; preempted ones
// start over; waiting ones come in order while tokens, sequences and blocks last, none in a step
// that preempted; a watermark stays free at admission, and the whole known sequence has to fit.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "lint/simulate/trace.h"

namespace kvbudget::simulate {

/// Milliseconds of a step = fixed + per prefill token + per token of KV cache read. The defaults
/// are of Llama-3.1-8B on an H100: 15 GiB of weights at 3 TB/s and some host time; 16 GFLOP a token
/// at 400 TFLOP/s; 131,072 bytes a token at 2.9 TB/s.
struct StepTime {
  double fixed_ms = 6.0;
  double prefill_token_ms = 0.04;
  double kv_token_us = 0.045;
};

struct Engine {
  uint64_t usable_blocks = 0;
  uint32_t block_tokens = 16;
  uint64_t max_model_len = 0;
  uint32_t max_num_seqs = 256;
  uint32_t max_num_batched_tokens = 8'192;
  double watermark = 0.01;          ///< of the pool, at admission
  bool reserve_full_prompt = true;  ///< scheduler-reserve-full-isl
  bool prefix_caching = true;
  StepTime step;
};

/// What clients say of the length they ask for; traces tell only what was generated.
struct MaxTokens {
  enum class Kind { kOracle, kTimes, kFixed };
  Kind kind = Kind::kOracle;
  double times = 2.0;      ///< kTimes: of what will be generated
  uint32_t tokens = 1024;  ///< kFixed, or what will be generated if that is more
  uint32_t of(const TraceRequest& request) const;
};

enum class Policy { kStock, kOptimistic, kStrict };
const char* policy_name(Policy policy);

struct Outcome {
  uint64_t finished = 0;
  uint64_t rejected = 0;  ///< no empty pool holds them
  uint64_t preemptions = 0;
  uint64_t peak_blocks = 0;  ///< held at once, of usable_blocks
  uint64_t output_tokens = 0;
  double seconds = 0.0;            ///< from the first arrival to the last token
  double mean_running = 0.0;       ///< requests in a step
  double mean_wait_seconds = 0.0;  ///< until the first schedule
  double p95_wait_seconds = 0.0;
  double tokens_per_second() const {
    return seconds > 0.0 ? static_cast<double>(output_tokens) / seconds : 0.0;
  }
};

/// Replays a trace whose arrivals come `speedup` times as fast.
Outcome run(const Trace& trace, const Engine& engine, Policy policy, const MaxTokens& max_tokens,
            double speedup);

}  // namespace kvbudget::simulate
