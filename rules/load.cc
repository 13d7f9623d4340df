#include "rules/load.h"

#include <algorithm>
#include <cmath>

#include "lint/memory/format.h"

namespace kvbudget {

double engine_count(const Deployment& d) {
  const uint32_t replicas = d.start.replicas ? std::max(d.start.replicas->value, 1U) : 1;
  return static_cast<double>(replicas) * std::max(d.engine.data_parallel, 1U);
}

std::optional<EngineLoad> engine_load(const Deployment& d) {
  const Workload& w = d.workload;
  if (!w.concurrency || !w.prompt_tokens || *w.concurrency <= 0.0) return std::nullopt;
  EngineLoad load;
  load.concurrency = *w.concurrency / engine_count(d);
  load.tokens = static_cast<uint64_t>(
      std::max(1.0, std::ceil(*w.prompt_tokens + w.output_tokens.value_or(0.0) / 2.0)));
  load.shared_prefix =
      static_cast<uint64_t>(std::min(w.shared_prefix_tokens.value_or(0.0), *w.prompt_tokens));
  return load;
}

bool has_cache(const Deployment& d) {
  return d.estimate && d.estimate->best.num_blocks > 1 && d.estimate->best.holds_one_request;
}

memory::HeldRequests held_requests(const Deployment& d, uint64_t tokens, uint64_t shared_prefix) {
  return memory::held_requests(*d.shape, d.engine, *d.estimate, {tokens, shared_prefix});
}

std::string count_text(double requests) {
  return requests < 10.0 ? memory::decimal_text(requests, 1)
                         : memory::with_commas(static_cast<uint64_t>(requests));
}

}  // namespace kvbudget
