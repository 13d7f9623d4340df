#include "rules/pressure.h"

#include "lint/memory/format.h"
#include "rules/load.h"

namespace kvbudget {
namespace {

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
  if (d.estimate && holds_too_little(*d.estimate)) return true;
  const std::optional<EngineLoad> load = engine_load(d);
  return load && has_cache(d) &&
         held_requests(d, load->tokens, load->shared_prefix).best < load->concurrency;
}

}  // namespace kvbudget
