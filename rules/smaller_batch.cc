// Source: vllm/engine/arg_utils.py, get_batch_defaults, 0.9 to 0.27.
#include "rules/smaller_batch.h"

#include "lint/memory/bytes.h"
#include "rules/what_if.h"

namespace kvbudget {
namespace {

constexpr uint32_t kLargeCardTokens = 8192;
constexpr uint32_t kTokens = 2048;
constexpr uint64_t kLargeCard = 70 * memory::kGiB;

}  // namespace

uint32_t usual_batch(uint64_t total_bytes) {
  return total_bytes >= kLargeCard ? kLargeCardTokens : kTokens;
}

memory::Estimate what_if_batch(const Deployment& d, uint32_t tokens) {
  return what_if(d, [&](memory::EngineSettings& s) { s.max_num_batched_tokens = tokens; });
}

bool may_be_lowered(const Deployment& d, uint32_t tokens) {
  const bool chunks =
      !d.settings.has("enable-chunked-prefill") || d.settings.is_true("enable-chunked-prefill");
  return chunks && !d.engine.v0_engine && tokens < d.engine.max_num_batched_tokens &&
         tokens >= d.engine.max_num_seqs;
}

uint32_t batch_that_starts(const Deployment& d) {
  for (const uint32_t tokens : {kLargeCardTokens, kTokens}) {
    if (may_be_lowered(d, tokens) && what_if_batch(d, tokens).obstacle == memory::Obstacle::kNone) {
      return tokens;
    }
  }
  return 0;
}

}  // namespace kvbudget
