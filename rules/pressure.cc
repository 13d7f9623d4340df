#include "rules/pressure.h"

#include <algorithm>

#include "lint/memory/format.h"

namespace kvbudget {
namespace {

// Tokens that the stated load holds at once in one engine; 0 when it is not stated. Requests are
// halfway through their answers on average, and a shared prefix is kept once.
double tokens_of_load(const Deployment& d) {
  const Workload& load = d.workload;
  if (!load.concurrency || !load.prompt_tokens) return 0.0;
  const double shared = load.shared_prefix_tokens.value_or(0.0);
  const double each =
      std::max(0.0, *load.prompt_tokens - shared) + load.output_tokens.value_or(0.0) / 2;
  const double replicas = d.start.replicas ? std::max(1U, d.start.replicas->value) : 1.0;
  return *load.concurrency / replicas * each + shared;
}

bool holds_too_little(const memory::Estimate& estimate) {
  return estimate.obstacle == memory::Obstacle::kContextTooLong;
}

}  // namespace

bool cache_matters(const Deployment& d) {
  return d.estimate && (d.estimate->best.holds_one_request || holds_too_little(*d.estimate));
}

std::string cache_text(const memory::Estimate& estimate) {
  return estimate.best.holds_one_request
             ? "the cache holds about " + memory::with_commas(estimate.best.tokens) + " tokens"
             : "the cache does not hold one request of " +
                   memory::with_commas(estimate.max_model_len) + " tokens";
}

bool cache_is_short(const Deployment& d) {
  if (!d.estimate) return false;
  if (holds_too_little(*d.estimate)) return true;
  return tokens_of_load(d) > static_cast<double>(d.estimate->best.tokens);
}

}  // namespace kvbudget
