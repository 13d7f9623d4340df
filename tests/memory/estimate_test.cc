#include "lint/memory/estimate.h"

#include "lint/memory/suggest.h"
#include "tests/support/catch.h"

using namespace kvbudget::memory;

namespace {

// A decoder of 16 layers with 8 KV heads of 128: 64 KiB a token in 16 bit, `weight_gib` of weights.
ModelShape model_of(uint64_t weight_gib) {
  ModelShape model;
  model.num_layers = 16;
  model.hidden_size = 4096;
  model.intermediate_size = 8192;
  model.num_heads = 32;
  model.vocab_size = 32000;
  Weight weight;
  weight.name = "everything";
  weight.rows = weight_gib * 512;
  weight.columns = kMiB;
  weight.split = Split::kRows;
  weight.place = Place::kFirstStage;
  model.weights = {weight};
  for (uint32_t i = 0; i < 16; ++i) {
    LayerCache layer;
    layer.layer = i;
    layer.kv_heads = 8;
    layer.head_dim = layer.value_head_dim = 128;
    model.caches.push_back(layer);
  }
  return model;
}

EngineSettings engine_of(uint64_t max_model_len) {
  EngineSettings settings;
  settings.release = {1900};
  settings.max_model_len = max_model_len;
  settings.max_num_seqs = 256;
  settings.max_num_batched_tokens = 2048;
  settings.cudagraph_sizes = 51;
  return settings;
}

constexpr GpuMemory kCard = {24 * kGiB, 8, 9};

}  // namespace

TEST_CASE("what is available is the budget less every term that this version counts") {
  const Estimate e = estimate(model_of(8), engine_of(8192), kCard);
  uint64_t used = 0;
  for (const Term& term : e.terms) used += term.in_budget ? term.bytes.best : 0;
  CHECK(e.requested_bytes == static_cast<uint64_t>(0.9 * static_cast<double>(kCard.total_bytes)));
  CHECK(e.available.best == static_cast<int64_t>(e.requested_bytes - used));
  CHECK(e.available.low < e.available.best);
  CHECK(e.available.best < e.available.high);
  CHECK(e.verdict == Verdict::kStarts);
  CHECK(e.bytes_per_token == 64 * kKiB);
  CHECK(e.needed_bytes == 8192 * 64 * kKiB);
  CHECK(e.best.longest_context >= 8192);
  CHECK(e.best.tokens == e.best.num_blocks * 16);
}

TEST_CASE("CUDA graphs count inside the budget from 0.20 and beside it before") {
  EngineSettings settings = engine_of(8192);
  const Estimate before = estimate(model_of(8), settings, kCard);
  settings.release = {2000};
  const Estimate after = estimate(model_of(8), settings, kCard);
  CHECK_FALSE(before.term("cuda_graphs")->in_budget);
  CHECK(after.term("cuda_graphs")->in_budget);
  CHECK(after.available.best < before.available.best);
  CHECK(before.outside.best > after.outside.best);
}

TEST_CASE("the first thing that fails is the obstacle, and weights come before cache and context") {
  const Estimate heavy = estimate(model_of(40), engine_of(8192), kCard);
  CHECK(heavy.obstacle == Obstacle::kWeightsExceedBudget);
  CHECK(heavy.verdict == Verdict::kOutOfMemory);
  const Estimate full = estimate(model_of(22), engine_of(8192), kCard);
  CHECK(full.obstacle == Obstacle::kWeightsExceedBudget);
  CHECK(full.verdict == Verdict::kRefuses);
  EngineSettings wide = engine_of(8192);
  wide.max_num_batched_tokens = 8192;
  const Estimate tight = estimate(model_of(21), wide, kCard);
  CHECK(tight.obstacle == Obstacle::kNoRoomForCache);
  const Estimate long_context = estimate(model_of(8), engine_of(1 << 20), kCard);
  CHECK(long_context.obstacle == Obstacle::kContextTooLong);
  CHECK(long_context.obstacle_certain);
  CHECK(long_context.best.longest_context > 100'000);
}

TEST_CASE("a length between the ends of the interval is neither promised nor refused") {
  const Estimate e = estimate(model_of(8), engine_of(8192), kCard);
  const Estimate close = estimate(model_of(8), engine_of(e.best.longest_context), kCard);
  CHECK(close.verdict == Verdict::kUnsure);
  CHECK(close.obstacle == Obstacle::kContextTooLong);
  CHECK_FALSE(close.obstacle_certain);
}

TEST_CASE("the longest context is one that fits, and one block more is not") {
  EngineSettings settings = engine_of(8192);
  settings.kv_cache_memory_bytes = 3 * kGiB;
  const Estimate e = estimate(model_of(8), settings, kCard);
  settings.max_model_len = e.best.longest_context;
  CHECK(estimate(model_of(8), settings, kCard).best.holds_one_request);
  settings.max_model_len = e.best.longest_context + 16;
  CHECK_FALSE(estimate(model_of(8), settings, kCard).best.holds_one_request);
}

TEST_CASE("a cache of given bytes ignores the utilisation but not the card") {
  EngineSettings settings = engine_of(8192);
  settings.kv_cache_memory_bytes = 4 * kGiB;
  settings.gpu_memory_utilization = 0.1;
  CHECK(estimate(model_of(8), settings, kCard).verdict == Verdict::kStarts);
  settings.kv_cache_memory_bytes = 20 * kGiB;
  const Estimate e = estimate(model_of(8), settings, kCard);
  CHECK(e.obstacle == Obstacle::kCacheExceedsMemory);
  CHECK(e.verdict == Verdict::kOutOfMemory);
}

TEST_CASE("the start check reads the utilisation beside a cache of fixed size too") {
  EngineSettings settings = engine_of(8192);
  settings.kv_cache_memory_bytes = 4 * kGiB;
  settings.gpu_memory_utilization = 0.999;
  const Estimate e = estimate(model_of(8), settings, kCard);
  CHECK(e.obstacle == Obstacle::kBudgetExceedsFree);
  CHECK(e.verdict == Verdict::kRefuses);
}

TEST_CASE("blocks set by hand fix the cache whatever the budget") {
  EngineSettings settings = engine_of(8192);
  settings.num_gpu_blocks_override = 600;
  const Estimate few = estimate(model_of(8), settings, kCard);
  CHECK(few.verdict == Verdict::kStarts);
  CHECK(few.best.longest_request == 599 * 16);
  settings.num_gpu_blocks_override = 20'000;  // of 1 MiB
  const Estimate many = estimate(model_of(8), settings, kCard);
  CHECK(many.obstacle == Obstacle::kCacheExceedsMemory);
  CHECK(many.verdict == Verdict::kOutOfMemory);
}

TEST_CASE("fewer sequences are proposed where those in force find no memory") {
  EngineSettings settings = engine_of(8192);
  settings.release = {2600};
  settings.model_runner_v2 = true;
  settings.gpu_memory_utilization = 0.95;
  settings.max_num_seqs = settings.max_num_batched_tokens = 8192;
  REQUIRE(estimate(model_of(8), settings, kCard).obstacle == Obstacle::kSamplerExceedsMemory);
  const uint32_t fewer = fewer_sequences(model_of(8), settings, kCard);
  CHECK(fewer == 512);
  settings.max_num_seqs = fewer;
  CHECK(estimate(model_of(8), settings, kCard).obstacle == Obstacle::kNone);
}

TEST_CASE("heads that do not divide are refused before any memory counts") {
  EngineSettings settings = engine_of(8192);
  settings.tensor_parallel = 3;
  const Estimate e = estimate(model_of(40), settings, kCard);
  CHECK(e.obstacle == Obstacle::kHeadsNotDivisible);
  CHECK(e.verdict == Verdict::kRefuses);
}

TEST_CASE("the tightest pipeline stage decides") {
  EngineSettings settings = engine_of(8192);
  settings.pipeline_parallel = 2;
  const Estimate e = estimate(model_of(8), settings, kCard);
  CHECK(e.tightest_stage == 0);
  CHECK(e.term("weights")->bytes.best == 8 * kGiB);
}

TEST_CASE("suggestions are the smallest that start") {
  CHECK(smallest_tensor_parallel(model_of(60), engine_of(8192), kCard) == 4);
  EngineSettings settings = engine_of(8192);
  settings.gpu_memory_utilization = 0.3;
  const double share = smallest_utilization(model_of(8), settings, kCard);
  settings.gpu_memory_utilization = share;
  CHECK(estimate(model_of(8), settings, kCard).low.holds_one_request);
  settings.gpu_memory_utilization = share - 0.01;
  CHECK_FALSE(estimate(model_of(8), settings, kCard).low.holds_one_request);
}

TEST_CASE("requests of 8k are counted wherever the engine takes them") {
  const Estimate at_8k = estimate(model_of(8), engine_of(8192), kCard);
  REQUIRE(at_8k.best.example_concurrency.has_value());
  CHECK(*at_8k.best.example_concurrency == at_8k.best.max_concurrency);
  const Estimate longer = estimate(model_of(8), engine_of(32768), kCard);
  REQUIRE(longer.best.example_concurrency.has_value());
  CHECK(*longer.best.example_concurrency ==
        Approx(static_cast<double>(longer.best.num_blocks) / (8192 / 16)));
  CHECK(*longer.best.example_concurrency > longer.best.max_concurrency);
  CHECK_FALSE(estimate(model_of(8), engine_of(4096), kCard).best.example_concurrency.has_value());
}
