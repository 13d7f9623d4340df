#include "lint/models/draft_model.h"

#include "tests/models/configs.h"
#include "tests/models/shapes.h"
#include "tests/support/catch.h"

using namespace kvbudget;
using test::kDense;
using test::shape_of;

namespace {

DraftResult draft_of(const std::string& config, const char* method,
                     const memory::ModelShape& target) {
  ModelFiles files;
  files.id = "org/draft";
  files.config = config;
  return read_draft(files, method, target);
}

std::string head(const std::string& architecture, const std::string& more) {
  return R"({"architectures": [")" + architecture + R"("], "num_hidden_layers": 1,
    "hidden_size": 64, "num_attention_heads": 8, "num_key_value_heads": 2, "intermediate_size": 128,
    "vocab_size": 1000, "max_position_embeddings": 512)" +
         more + "}";
}

uint64_t parameters(const DraftResult& draft) {
  uint64_t total = 0;
  for (const memory::Weight& weight : draft.layers->weights) {
    if (weight.place == memory::Place::kLastStageCopy) continue;
    total += weight.rows * weight.columns * weight.separate_copies;
  }
  return total;
}

constexpr uint64_t kHidden = 64;
constexpr uint64_t kQkv = (64 + 2 * 16) * kHidden;
constexpr uint64_t kLayer = kQkv + kHidden * 64 + 3 * 128 * kHidden;

}  // namespace

TEST_CASE("an EAGLE head is a layer and a projection between the model's embeddings and output") {
  const ShapeResult target = shape_of(kDense);
  REQUIRE(target.shape);
  const DraftResult draft = draft_of(head("LlamaForCausalLM", ""), "eagle", *target.shape);
  REQUIRE(draft.layers);
  CHECK(parameters(draft) == kLayer + 2 * kHidden * kHidden + kHidden);
  REQUIRE(draft.layers->caches.size() == 1);
  CHECK(draft.layers->caches.front().kv_heads == 2);
}

TEST_CASE("an EAGLE 3 head reads three hidden states and has an output layer of its own") {
  const ShapeResult target = shape_of(kDense);
  REQUIRE(target.shape);
  constexpr uint64_t kSmallVocabulary = 320;
  // Keys and values read embeddings too; token ids of the smaller vocabulary are 8 bytes each.
  constexpr uint64_t kExpected = kLayer + kQkv + 3 * kHidden * kHidden + 4 * kHidden +
                                 kSmallVocabulary * kHidden + kSmallVocabulary;
  const std::string flat = head("LlamaForCausalLMEagle3", R"(, "draft_vocab_size": 320)");
  const std::string speculators =
      R"({"architectures": ["Eagle3Speculator"], "speculators_model_type": "eagle3",
          "draft_vocab_size": 320, "transformer_layer_config": )" +
      head("LlamaForCausalLM", R"(, "model_type": "llama")") + "}";
  for (const std::string& config : {flat, speculators}) {
    const DraftResult draft = draft_of(config, "eagle3", *target.shape);
    INFO(draft.error);
    REQUIRE(draft.layers);
    CHECK(parameters(draft) == kExpected);
  }
}

TEST_CASE("a draft model keeps embeddings, head and rotary tables of its own") {
  const ShapeResult target = shape_of(kDense);
  REQUIRE(target.shape);
  const std::string config = head("LlamaForCausalLM", R"(, "head_dim": 16)");
  const DraftResult draft = draft_of(config, "draft_model", *target.shape);
  REQUIRE(draft.layers);
  constexpr uint64_t kWide = 2 * (kQkv + kHidden * 64) + 3 * 128 * kHidden;
  CHECK(parameters(draft) == 2 * 1000 * kHidden + kWide + 3 * kHidden + 512 * 16);
}

TEST_CASE("heads that are not followed are named") {
  const ShapeResult target = shape_of(kDense);
  REQUIRE(target.shape);
  for (const char* method : {"eagle", "eagle3"}) {
    const DraftResult draft = draft_of(head("CohereForCausalLM", ""), method, *target.shape);
    CHECK_FALSE(draft.layers);
    CHECK(draft.error.find("CohereForCausalLM") != std::string::npos);
    CHECK_FALSE(draft_of("[]", method, *target.shape).error.empty());
    CHECK_FALSE(
        draft_of(R"({"transformer_layer_config": 7})", method, *target.shape).error.empty());
  }
}
