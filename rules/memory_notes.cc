#include "rules/memory_notes.h"

#include <algorithm>

#include "lint/memory/explain.h"
#include "lint/memory/format.h"
#include "rules/propose.h"
#include "rules/smaller_batch.h"
#include "rules/what_if.h"

namespace kvbudget {

using memory::gib_number;
using memory::gib_text;
using memory::with_commas;

namespace {

// The other way: more GPUs instead of a shorter length.
void add_gpus_note(const Deployment& d, Diagnostic& finding) {
  const uint32_t size = smallest_tensor_parallel(d);
  if (size == 0) return;
  finding.notes.push_back({"tensor-parallel-size " + std::to_string(size) +
                               " is the smallest that surely holds " +
                               with_commas(d.estimate->max_model_len) + " tokens",
                           {}});
}

}  // namespace

std::string available_text(const memory::Estimate& estimate) {
  const memory::SignedInterval& available = estimate.available;
  if (available.low == available.high) return gib_text(available.best) + " is available";
  return "about " + gib_text(available.best) + " is available (" + gib_number(available.low) +
         " to " + gib_number(available.high) + ")";
}

void add_budget_notes(const Deployment& d, Diagnostic& finding) {
  const memory::Estimate& e = *d.estimate;
  if (d.engine.kv_cache_memory_bytes) {
    finding.notes.push_back(
        {"kv-cache-memory-bytes sets the size of the cache", d.where_of("kv-cache-memory-bytes")});
  } else {
    finding.notes.push_back(
        {"available on " + d.gpu->name + ": " + memory::budget_text(e, d.engine) + " GiB", {}});
  }
  if (d.version_assumed) {
    finding.notes.push_back({"the file names no vLLM release; this is the arithmetic of " +
                                 d.version.str() + " (--engine sets another)",
                             {}});
  }
}

Severity severity_of(const memory::Estimate& estimate) {
  return estimate.obstacle_certain ? Severity::kError : Severity::kWarning;
}

std::string longest_text(const Deployment& d) {
  const uint64_t longest = d.estimate->best.longest_context;
  if (longest == 0) return "not even one block fits";
  const uint64_t safe = proposed_length(d);
  if (safe == longest) return "the longest that fits is " + with_commas(longest);
  return "the longest that fits is about " + with_commas(longest) +
         (safe == 0 ? "" : ", at worst " + with_commas(safe));
}

uint64_t left_beside_budget(const Deployment& d) {
  const memory::Estimate& e = *d.estimate;
  const uint64_t cache = memory::fixed_cache_bytes(d.engine, e);
  return memory::less(e.total_bytes, cache != 0 ? memory::add(e.used.best, cache)
                                                : memory::requested_bytes(d.engine, e.total_bytes));
}

uint64_t proposed_length(const Deployment& d) {
  const uint64_t block = std::max<uint64_t>(d.engine.block_tokens, 1);
  const uint64_t safe = d.estimate->low.longest_context / block * block;
  constexpr uint64_t kWorthProposing = 512;  // tokens; shorter contexts serve nobody
  return safe >= kWorthProposing ? std::min(safe, d.context.limit_tokens) : 0;
}

void propose_length(const Deployment& d, Diagnostic& finding) {
  const uint64_t length = proposed_length(d);
  if (length == 0) return add_gpus_note(d, finding);
  // KVB109 proposes it, and both fixes at once would give up more of the length than has to be.
  const uint32_t batch = batch_that_starts(d);
  if (batch != 0 && d.settings.has("max-num-batched-tokens")) {
    finding.notes.push_back(
        {"with max-num-batched-tokens " + std::to_string(batch) +
             " this length fits; without, --max-model-len=" + std::to_string(length),
         {}});
    return;
  }
  add_gpus_note(d, finding);
  // Where so little of it is certain, nobody wants that length.
  constexpr uint64_t kLeastShare = 4;
  if (length < d.estimate->best.longest_context / kLeastShare) return;
  suggest_value(d, "max-model-len", std::to_string(length), finding);
}

}  // namespace kvbudget
