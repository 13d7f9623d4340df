#include "tests/accuracy/comparisons.h"

#include <algorithm>

#include "lint/memory/bytes.h"

namespace kvbudget::test {
namespace {

using memory::gib;

// Logs print GiB with two decimals.
constexpr double kGibRounding = 0.005;

template <typename Wanted>
Runs runs_where(const Wanted& wanted) {
  Runs result;
  for (const JudgedRun& judged : collection().judged) {
    if (wanted(judged)) result.push_back(&judged);
  }
  return result;
}

bool is_dense(const memory::ModelShape& shape) {
  return shape.num_experts == 0 &&
         std::all_of(shape.caches.begin(), shape.caches.end(), [](const memory::LayerCache& layer) {
           return layer.kind == memory::CacheKind::kFull ||
                  layer.kind == memory::CacheKind::kSliding;
         });
}

std::string release_and_card(const ObservedRun& run) {
  return run.in_core_set() ? run.id : run.id + " [" + run.engine + ", " + run.gpu + "]";
}

Sample sample_of(const ObservedRun& run, double truth, double ours) {
  Sample sample;
  sample.id = release_and_card(run);
  sample.model = run.model;
  sample.truth = truth;
  sample.ours = ours;
  return sample;
}

void add_term(Comparison& into, const ObservedRun& run, const memory::Estimate& e,
              std::string_view name, const std::optional<double>& truth) {
  if (!truth || *truth <= 0.0) return;
  const memory::Interval& bytes = e.term(name)->bytes;
  Sample sample = sample_of(run, *truth, gib(bytes.best));
  sample.interval = {gib(bytes.low), gib(bytes.high)};
  sample.rounding = kGibRounding;
  into.add(std::move(sample));
}

void add_kv(Comparisons& c, const ObservedRun& run, const memory::Estimate& e) {
  if (run.usable("kv_bytes") && run.kv_available_gib) {
    Sample sample = sample_of(run, *run.kv_available_gib, gib(e.available.best));
    sample.interval = {gib(e.available.low), gib(e.available.high)};
    sample.rounding = kGibRounding;
    c.kv_bytes.add(std::move(sample));
  }
  // A log with a KV size of its own judges tokens by that size (tokens_test.cc), unless the size is
  // judged too.
  const bool from_estimate =
      run.usable("kv_bytes") || (!run.kv_available_gib && !run.blocks.has_value());
  if (!from_estimate || !e.best.holds_one_request) return;
  if (run.usable("tokens") && run.kv_tokens) {
    Sample sample =
        sample_of(run, static_cast<double>(*run.kv_tokens), static_cast<double>(e.best.tokens));
    sample.interval = {static_cast<double>(e.low.tokens), static_cast<double>(e.high.tokens)};
    c.tokens.add(std::move(sample));
  }
  // Where tokens are not judged, concurrency follows from them, not from the estimate.
  const bool follows = run.kv_tokens && !run.usable("tokens");
  if (run.usable("concurrency") && run.max_concurrency && !follows) {
    Sample sample = sample_of(run, *run.max_concurrency, e.best.max_concurrency);
    sample.interval = {e.low.max_concurrency, e.high.max_concurrency};
    sample.rounding = kGibRounding;
    c.concurrency.add(std::move(sample));
  }
}

}  // namespace

Runs core_runs() {
  return runs_where([](const JudgedRun& judged) { return judged.run.in_core_set(); });
}

Runs other_runs() {
  return runs_where([](const JudgedRun& judged) { return !judged.run.in_core_set(); });
}

Runs other_dense_runs() {
  return runs_where([](const JudgedRun& judged) {
    return !judged.run.in_core_set() && is_dense(*judged.deployment.shape);
  });
}

memory::Estimate own_estimate(const JudgedRun& run) { return *run.deployment.estimate; }

Comparisons compare(const Runs& runs, const Estimator& estimator) {
  Comparisons c;
  for (const JudgedRun* judged : runs) {
    const ObservedRun& run = judged->run;
    const memory::Estimate e = estimator(*judged);
    if (run.usable("weights")) add_term(c.weights, run, e, "weights", run.weights_gib);
    if (run.usable("activation")) {
      add_term(c.activation, run, e, "activation", run.activation_gib);
      add_term(c.non_torch, run, e, "non_torch", run.non_torch_gib);
      add_term(c.graphs, run, e, "cuda_graphs", run.graph_gib);
    }
    add_kv(c, run, e);
  }
  return c;
}

}  // namespace kvbudget::test
