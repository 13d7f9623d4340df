// What a cache of a logged size holds: tokens, concurrency, the need of one request and the longest
// context follow from it without any estimate. Logs round the size to 0.01 GiB; some size within
// that must give the logged figure exactly.

#include <cmath>
#include <cstdio>
#include <functional>

#include "lint/memory/bytes.h"
#include "lint/memory/layer_specs.h"
#include "lint/memory/plan.h"
#include "tests/accuracy/observed.h"
#include "tests/support/catch.h"

using namespace kvbudget;
using memory::Plan;
using memory::Planner;

namespace {

constexpr double kRounding = 0.005;

// Logs print two decimals, some reports one.
double rounding_of(double figure) {
  const double tenths = figure * 10.0;
  return std::fabs(tenths - std::round(tenths)) < 1e-6 ? 0.05 : kRounding;
}

uint64_t logged_tokens(const Plan& plan) {
  uint64_t tokens = plan.ranks.empty() ? plan.kv_tokens : plan.ranks.front().log_tokens;
  for (const memory::RankPlan& rank : plan.ranks) tokens = std::min(tokens, rank.log_tokens);
  return tokens;
}

// The plans that a run's logged cache size allows: sizes within its rounding, or its blocks.
class LoggedCache {
 public:
  LoggedCache(const test::ObservedRun& run, const Deployment& d)
      : planner_(memory::plan_input(*d.shape, settings_of(run, d))), ranks_(planner_.num_ranks()) {
    constexpr double kPlenty = 4096.0;
    share_ = static_cast<double>(settings_of(run, d).max_model_len) /
             static_cast<double>(std::max<uint64_t>(d.engine.max_model_len, 1));
    const double size = run.kv_available_gib.value_or(kPlenty);
    low_ = bytes(size - kRounding);
    high_ = bytes(size + kRounding);
  }

  static bool is_known(const test::ObservedRun& run) {
    const bool tokens_alone = run.kv_tokens && !run.usable("tokens") && run.usable("concurrency");
    return (run.kv_available_gib || run.blocks) && !run.kv_of_other_rank && !tokens_alone;
  }

  /// The length that was planned for, as a share of the request that was refused.
  double share_of_request() const { return share_; }

  Plan at_low() const { return plan(low_); }
  Plan at_high() const { return plan(high_); }

  /// Whether a size within the rounding gives `wanted`, for a figure that grows with the size.
  bool allows(uint64_t wanted, const std::function<uint64_t(const Plan&)>& figure) const {
    int64_t below = low_;
    int64_t above = high_;
    if (figure(plan(above)) < wanted) return false;
    while (below < above) {
      const int64_t middle = below + (above - below) / 2;
      if (figure(plan(middle)) >= wanted) {
        above = middle;
      } else {
        below = middle + 1;
      }
    }
    return figure(plan(above)) == wanted;
  }

 private:
  static memory::EngineSettings settings_of(const test::ObservedRun& run, const Deployment& d) {
    memory::EngineSettings settings = d.engine;
    if (!run.kv_available_gib) settings.num_gpu_blocks_override = run.blocks;
    // An engine that refused has logged its tokens before.
    if (run.outcome == "kv_too_small" && run.usable("tokens")) {
      settings.max_model_len = settings.block_tokens;
    }
    return settings;
  }
  static int64_t bytes(double gib) {
    return static_cast<int64_t>(gib * static_cast<double>(memory::kGiB));
  }
  Plan plan(int64_t size) const { return planner_.plan(std::vector<int64_t>(ranks_, size)); }

  Planner planner_;
  size_t ranks_;
  double share_ = 1.0;
  int64_t low_ = 0;
  int64_t high_ = 0;
};

struct Tally {
  int rows = 0;
  int exact = 0;
  void count(const test::ObservedRun& run, const char* what, bool holds, double logged, double low,
             double high) {
    ++rows;
    exact += holds ? 1 : 0;
    if (holds) return;
    std::printf("not reproduced: %s %s: logged %.2f, %.2f to %.2f follow from its cache\n",
                run.id.c_str(), what, logged, low, high);
  }
};

struct Tallies {
  Tally tokens, concurrency, needed, longest;
};

void check_capacity(const test::ObservedRun& run, const LoggedCache& cache, Tallies& tallies) {
  const Plan low = cache.at_low();
  const Plan high = cache.at_high();
  if (run.usable("tokens") && run.kv_tokens) {
    tallies.tokens.count(run, "tokens", cache.allows(*run.kv_tokens, logged_tokens),
                         static_cast<double>(*run.kv_tokens),
                         static_cast<double>(logged_tokens(low)),
                         static_cast<double>(logged_tokens(high)));
  }
  if (run.usable("concurrency") && run.max_concurrency) {
    const double least = low.max_concurrency * cache.share_of_request();
    const double most = high.max_concurrency * cache.share_of_request();
    const double rounding = rounding_of(*run.max_concurrency);
    const bool holds =
        least - rounding <= *run.max_concurrency && *run.max_concurrency <= most + rounding;
    tallies.concurrency.count(run, "concurrency", holds, *run.max_concurrency, least, most);
  }
}

void check_refusal(const test::ObservedRun& run, const LoggedCache& cache, Tallies& tallies) {
  const Plan low = cache.at_low();
  if (run.usable("needed_kv") && run.needed_kv_gib) {
    const double needed = memory::gib(low.needed_bytes);
    tallies.needed.count(run, "needed KV GiB",
                         std::fabs(needed - *run.needed_kv_gib) <= kRounding + 1e-9,
                         *run.needed_kv_gib, needed, needed);
  }
  if (run.usable("est_max_len") && run.est_max_len) {
    const auto longest = [](const Plan& plan) { return plan.estimated_max_len; };
    tallies.longest.count(run, "longest context", cache.allows(*run.est_max_len, longest),
                          static_cast<double>(*run.est_max_len),
                          static_cast<double>(low.estimated_max_len),
                          static_cast<double>(cache.at_high().estimated_max_len));
  }
}

void check_run(const test::JudgedRun& judged, Tallies& tallies) {
  const test::ObservedRun& run = judged.run;
  if (LoggedCache::is_known(run)) {
    const LoggedCache cache(run, judged.deployment);
    check_capacity(run, cache, tallies);
    check_refusal(run, cache, tallies);
    return;
  }
  // Only tokens are logged: concurrency follows from them.
  if (!run.usable("concurrency") || !run.kv_tokens || !run.max_concurrency) return;
  const double requests = static_cast<double>(*run.kv_tokens) /
                          static_cast<double>(judged.deployment.engine.max_model_len);
  tallies.concurrency.count(
      run, "concurrency",
      std::fabs(requests - *run.max_concurrency) <= rounding_of(*run.max_concurrency) + 1e-9,
      *run.max_concurrency, requests, requests);
}

}  // namespace

TEST_CASE("logged tokens, concurrency and lengths follow from the logged cache exactly") {
  Tallies tallies;
  for (const test::JudgedRun& judged : test::collection().judged) check_run(judged, tallies);
  for (const test::JudgedRun& judged : test::collection().unplaced) check_run(judged, tallies);
  const auto print = [](const char* what, const Tally& tally) {
    std::printf("%-16s %3d of %3d rows reproduced\n", what, tally.exact, tally.rows);
  };
  print("tokens", tallies.tokens);
  print("concurrency", tallies.concurrency);
  print("needed KV", tallies.needed);
  print("longest context", tallies.longest);
  REQUIRE(tallies.tokens.rows > 0);
  CHECK(tallies.tokens.exact == tallies.tokens.rows);
  CHECK(tallies.concurrency.exact == tallies.concurrency.rows);
  CHECK(tallies.needed.exact == tallies.needed.rows);
  CHECK(tallies.longest.exact == tallies.longest.rows);
}
