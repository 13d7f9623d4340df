// How near the estimate comes to what engines measured. Every row is printed: a mean hides the one
// that is off.

#include <algorithm>
#include <cmath>
#include <cstdio>

#include "lint/memory/bytes.h"
#include "tests/accuracy/observed.h"
#include "tests/support/catch.h"

using namespace kvbudget;

namespace {

bool is_dense(const memory::ModelShape& shape) {
  return shape.num_experts == 0 && !shape.multimodal &&
         std::all_of(shape.caches.begin(), shape.caches.end(), [](const memory::LayerCache& layer) {
           return layer.kind == memory::CacheKind::kFull ||
                  layer.kind == memory::CacheKind::kSliding;
         });
}

double best_gib(const memory::Estimate& e, std::string_view term) {
  return memory::gib(e.term(term)->bytes.best);
}

void print_row(const test::ObservedRun& run, const memory::Estimate& e, double error) {
  std::printf(
      "%-48s weights %6.2f/%6.2f activation %5.2f/%5.2f kv %6.2f/%6.2f GiB %+6.2f %% blocks "
      "%8llu/%8llu\n",
      run.id.c_str(), best_gib(e, "weights"), run.weights_gib.value_or(NAN),
      best_gib(e, "activation"), run.activation_gib.value_or(NAN), memory::gib(e.available.best),
      *run.kv_available_gib, 100 * error, static_cast<unsigned long long>(e.best.num_blocks),
      static_cast<unsigned long long>(run.blocks.value_or(0)));
}

}  // namespace

TEST_CASE(
    "the KV cache of dense models on H100 with 0.19.0 is within 2 % of the measured runs on "
    "average") {
  double sum = 0.0;
  int rows = 0;
  std::printf("ours / measured\n");
  for (const test::ObservedRun& run : test::observed_runs()) {
    if (!run.id.starts_with("h100-") || !run.usable("kv_bytes")) continue;
    const std::optional<Deployment> d = test::judge(run);
    if (!d) {
      std::printf("%-48s no config at hand\n", run.id.c_str());
      continue;
    }
    if (!d->shape) {
      std::printf("%-48s no shape: %s\n", run.id.c_str(),
                  d->missing.empty() ? "" : d->missing.front().detail.c_str());
      continue;
    }
    if (!is_dense(*d->shape)) continue;
    INFO(run.id);
    REQUIRE(d->estimate.has_value());
    const double error = memory::gib(d->estimate->available.best) / *run.kv_available_gib - 1.0;
    print_row(run, *d->estimate, error);
    sum += std::fabs(error);
    ++rows;
  }
  REQUIRE(rows >= 20);
  std::printf("%d rows, mean absolute error of KV bytes %.3f %%\n", rows, 100 * sum / rows);
  CHECK(sum / rows < 0.02);
}
