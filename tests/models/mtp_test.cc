#include "lint/memory/draft.h"
#include "lint/memory/weights.h"
#include "tests/models/configs.h"
#include "tests/models/shapes.h"
#include "tests/support/catch.h"

using namespace kvbudget;
using test::kDelta;
using test::kLatent;
using test::kMamba;
using test::shape_of;

namespace {

// Of the layers themselves: not what they share with the model, nor what kernels derive.
uint64_t own_parameters(const memory::DraftLayers& draft) {
  uint64_t total = 0;
  for (const memory::Weight& weight : draft.weights) {
    if (weight.place == memory::Place::kLastStageCopy || weight.name.ends_with(".absorbed")) {
      continue;
    }
    total += weight.rows * weight.columns * weight.copies * weight.separate_copies;
  }
  return total;
}

std::string with(std::string config, const std::string& members) {
  config.insert(config.rfind('}'), ", " + members);
  return config;
}

}  // namespace

TEST_CASE("the layers that draft are as large as the engine's classes make them") {
  struct Case {
    const char* model;
    uint64_t parameters;
    size_t caches;
    memory::CacheKind kind;
  };
  // Counted on DeepSeekMTP, Glm4MoeMTP and ErnieMTP of vLLM 0.32, built on the meta device.
  const Case cases[] = {
      {"deepseek-ai/DeepSeek-V3.1", 11610068224, 1, memory::CacheKind::kMla},
      {"zai-org/GLM-4.5-Air", 2375059584, 1, memory::CacheKind::kFull},
      {"baidu/ERNIE-4.5-21B-A3B-PT", 123217920, 1, memory::CacheKind::kFull},
  };
  for (const Case& c : cases) {
    INFO(c.model);
    const FindResult found = find_model({}, c.model, "");
    REQUIRE(found.files);
    const ShapeResult read = read_shape(*found.files);
    REQUIRE(read.shape);
    REQUIRE(read.shape->mtp);
    CHECK(own_parameters(*read.shape->mtp) == c.parameters);
    REQUIRE(read.shape->mtp->caches.size() == c.caches);
    CHECK(read.shape->mtp->caches.front().kind == c.kind);
  }
}

TEST_CASE("Qwen's layers attend fully behind one projection, Nemotron's follow their own pattern") {
  const ShapeResult qwen = shape_of(kDelta);
  REQUIRE(qwen.shape);
  REQUIRE(qwen.shape->mtp);
  constexpr uint64_t kHidden = 64;
  constexpr uint64_t kAttention = (2 * 64 + 2 * 32) * kHidden + kHidden * 64 + 2 * 16;
  constexpr uint64_t kExperts = 8 * kHidden + 9 * 3 * 32 * kHidden + kHidden;
  CHECK(own_parameters(*qwen.shape->mtp) ==
        2 * kHidden * kHidden + 5 * kHidden + kAttention + kExperts);

  const std::string pattern = R"("num_nextn_predict_layers": 1, "mtp_hybrid_override_pattern": )";
  const ShapeResult nemotron = shape_of(with(kMamba, pattern + R"("*E")"));
  REQUIRE(nemotron.shape);
  REQUIRE(nemotron.shape->mtp);
  CHECK(nemotron.shape->mtp->caches.size() == 1);
  const ShapeResult unknown = shape_of(with(kMamba, pattern + R"("*M")"));
  REQUIRE(unknown.shape);
  CHECK_FALSE(unknown.shape->mtp);
}

TEST_CASE("layers that draft count only when they are loaded") {
  const ShapeResult plain = shape_of(kLatent);
  const ShapeResult drafting = shape_of(with(kLatent, R"("num_nextn_predict_layers": 1)"));
  REQUIRE(plain.shape);
  REQUIRE(drafting.shape);
  CHECK_FALSE(plain.shape->mtp);
  REQUIRE(drafting.shape->mtp);
  memory::EngineSettings settings;
  settings.release = {1700};
  const uint64_t without = memory::rank_weight_bytes(*plain.shape, settings, 0);
  CHECK(memory::rank_weight_bytes(*drafting.shape, settings, 0) == without);

  const memory::ModelShape loaded =
      with_draft(*drafting.shape, *drafting.shape->mtp, settings.release);
  CHECK(loaded.caches.size() == plain.shape->caches.size() + 1);
  const uint64_t with_layers = memory::rank_weight_bytes(loaded, settings, 0);
  CHECK(with_layers > without);
  // Before 0.16 each layer kept a copy of the head, on two stages the last one embeds too.
  const memory::ModelShape older = with_draft(*drafting.shape, *drafting.shape->mtp, {1500});
  constexpr uint64_t kVocabulary = 1024 * 64 * 2;
  CHECK(memory::rank_weight_bytes(older, settings, 0) == with_layers + kVocabulary);
  settings.pipeline_parallel = 2;
  const uint64_t last = memory::rank_weight_bytes(loaded, settings, 1);
  CHECK(memory::rank_weight_bytes(loaded, settings, 0) ==
        memory::rank_weight_bytes(*plain.shape, settings, 0));
  CHECK(last == memory::rank_weight_bytes(*plain.shape, settings, 1) + (with_layers - without) +
                    kVocabulary);
}
