#include "lint/memory/load.h"

#include "tests/support/catch.h"

using namespace kvbudget::memory;

namespace {

// 16 layers with 8 KV heads of 128: 64 KiB a token, 1 MiB a block of 16; 8 GiB of weights.
ModelShape model_of(CacheKind kind, uint32_t window) {
  ModelShape model;
  model.num_layers = 16;
  model.hidden_size = 4096;
  model.intermediate_size = 8192;
  model.num_heads = 32;
  model.vocab_size = 32000;
  Weight weight;
  weight.name = "everything";
  weight.rows = 4096;
  weight.columns = kMiB;
  weight.split = Split::kRows;
  weight.place = Place::kFirstStage;
  model.weights = {weight};
  for (uint32_t i = 0; i < 16; ++i) {
    LayerCache layer;
    layer.layer = i;
    layer.kind = i % 2 == 0 ? CacheKind::kFull : kind;
    layer.window_tokens = layer.kind == CacheKind::kSliding ? window : 0;
    layer.kv_heads = 8;
    layer.head_dim = layer.value_head_dim = 128;
    model.caches.push_back(layer);
  }
  return model;
}

EngineSettings engine() {
  EngineSettings settings;
  settings.release = {1900};
  settings.max_model_len = 8192;
  settings.max_num_seqs = 256;
  settings.max_num_batched_tokens = 2048;
  settings.cudagraph_sizes = 51;
  return settings;
}

constexpr GpuMemory kCard = {24 * kGiB, 8, 9};

double held(const ModelShape& model, const EngineSettings& settings, RequestTokens request) {
  return held_requests(model, settings, estimate(model, settings, kCard), request).best;
}

}  // namespace

TEST_CASE("requests are counted in whole blocks of the pool") {
  const ModelShape model = model_of(CacheKind::kFull, 0);
  const Estimate e = estimate(model, engine(), kCard);
  const double blocks = static_cast<double>(e.best.num_blocks - 1);
  CHECK(held(model, engine(), {16, 0}) == blocks);
  CHECK(held(model, engine(), {17, 0}) == blocks / 2.0);
  CHECK(held(model, engine(), {4096, 0}) == blocks / 256.0);
  const HeldRequests ends = held_requests(model, engine(), e, {4096, 0});
  CHECK(ends.low < ends.best);
  CHECK(ends.best < ends.high);
}

TEST_CASE("a shared prefix is held once, in whole blocks, where prefix caching is on") {
  const ModelShape model = model_of(CacheKind::kFull, 0);
  EngineSettings settings = engine();
  const double blocks = static_cast<double>(estimate(model, settings, kCard).best.num_blocks - 1);
  CHECK(held(model, settings, {4096, 2050}) == (blocks - 128.0) / 128.0);
  settings.prefix_caching = false;
  CHECK(held(model, settings, {4096, 2050}) == blocks / 256.0);
}

TEST_CASE("windows hold what they read, not the length") {
  const ModelShape model = model_of(CacheKind::kSliding, 512);
  const double long_requests = held(model, engine(), {8192, 0});
  const double full = held(model_of(CacheKind::kFull, 0), engine(), {8192, 0});
  CHECK(long_requests > 1.7 * full);
  CHECK(long_requests < 2.0 * full);
}

TEST_CASE("a step of decoding reads the weights once and the cache of every request") {
  const ModelShape model = model_of(CacheKind::kFull, 0);
  const uint64_t alone = decode_step_bytes(model, engine(), 1.0, 0);
  CHECK(alone >= 8 * kGiB);
  CHECK(alone < 8 * kGiB + 64 * kMiB);
  CHECK(decode_step_bytes(model, engine(), 8.0, 1000) == alone + 8 * 1000 * 64 * kKiB);
  EngineSettings two = engine();
  two.tensor_parallel = 2;
  CHECK(decode_step_bytes(model, two, 8.0, 1000) < alone / 2 + 4 * 1000 * 64 * kKiB + 64 * kMiB);
}

TEST_CASE("a batch reads the experts that it can be expected to choose") {
  ModelShape model = model_of(CacheKind::kFull, 0);
  model.num_experts = 64;
  model.experts_per_token = 4;
  model.weights.front().expert = true;
  const uint64_t all = decode_step_bytes(model, engine(), 1000.0, 0);
  const uint64_t one = decode_step_bytes(model, engine(), 1.0, 0);
  const uint64_t two = decode_step_bytes(model, engine(), 2.0, 0);
  CHECK(static_cast<double>(one) == Approx(static_cast<double>(all) * 4.0 / 64.0));
  CHECK(two > one);
  CHECK(two < 2 * one);
}
