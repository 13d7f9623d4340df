#include "lint/models/context.h"

#include "tests/models/shapes.h"
#include "tests/support/catch.h"

using namespace kvbudget;

namespace {

struct Case {
  const char* what;
  const char* keys;  ///< of config.json, beside those of every case
  uint16_t minor;
  uint64_t default_tokens;
  uint64_t limit_tokens;
  const char* key;
};

const Case kCases[] = {
    {"a plain length", R"("max_position_embeddings": 4096)", 19, 4096, 4096,
     "max_position_embeddings"},
    {"the smallest of several", R"("max_position_embeddings": 8192, "seq_length": 2048)", 19, 2048,
     2048, "seq_length"},
    {"none", R"("unused": 1)", 19, 2048, 2048, ""},
    {"a linear factor", R"("max_position_embeddings": 4096,
      "rope_scaling": {"type": "linear", "factor": 4.0})",
     19, 16384, 16384, "max_position_embeddings with rope factor 4"},
    {"llama3 takes no factor", R"("max_position_embeddings": 131072,
      "rope_scaling": {"rope_type": "llama3", "factor": 8.0})",
     19, 131072, 131072, "max_position_embeddings"},
    {"yarn up to 0.29 scales the original length", R"("max_position_embeddings": 32768,
      "rope_scaling": {"rope_type": "yarn", "factor": 4.0,
                       "original_max_position_embeddings": 32768})",
     29, 131072, 131072, "max_position_embeddings with rope factor 4"},
    {"yarn from 0.30 on keeps the stated length", R"("max_position_embeddings": 40960,
      "rope_scaling": {"rope_type": "yarn", "factor": 4.0,
                       "original_max_position_embeddings": 32768})",
     30, 40960, 40960, "max_position_embeddings"},
    {"longrope starts with the short length from 0.11 on", R"("max_position_embeddings": 131072,
      "original_max_position_embeddings": 4096, "rope_scaling": {"type": "su"})",
     19, 4096, 131072, "max_position_embeddings"},
    {"longrope before 0.11", R"("max_position_embeddings": 131072,
      "original_max_position_embeddings": 4096, "rope_scaling": {"type": "longrope"})",
     10, 131072, 131072, "max_position_embeddings"},
    {"model_max_length replaces the smallest from 0.8 on",
     R"("max_position_embeddings": 8192, "model_max_length": 131072)", 19, 131072, 131072,
     "model_max_length"},
    {"model_max_length before 0.8 only allows more",
     R"("max_position_embeddings": 8192, "model_max_length": 131072)", 7, 8192, 131072,
     "max_position_embeddings"},
};

memory::ModelShape shape(const std::string& keys, const std::string& tokenizer = "") {
  ModelFiles files;
  files.config = R"({"architectures": ["LlamaForCausalLM"], "num_hidden_layers": 1,
    "hidden_size": 8, "num_attention_heads": 1, "intermediate_size": 8, "vocab_size": 8, )" +
                 keys + "}";
  files.tokenizer_config = tokenizer;
  const ShapeResult result = read_shape(files);
  INFO(result.error);
  REQUIRE(result.shape != nullptr);
  return *result.shape;
}

}  // namespace

TEST_CASE("the context length follows the rules of the engine's version") {
  for (const Case& c : kCases) {
    INFO(c.what);
    const ContextLimit limit = context_limit(shape(c.keys), Version{0, c.minor, 0}, false);
    CHECK(limit.default_tokens == c.default_tokens);
    CHECK(limit.limit_tokens == c.limit_tokens);
    CHECK(limit.key == c.key);
    CHECK(limit.known == (c.key[0] != '\0'));
  }
}

TEST_CASE("the tokenizer's length lowers the limit from 0.9 on") {
  const auto model = shape(R"("max_position_embeddings": 4096)", R"({"model_max_length": 1024})");
  CHECK(context_limit(model, Version{0, 8, 0}, false).limit_tokens == 4096);
  CHECK(context_limit(model, Version{0, 9, 0}, false).limit_tokens == 1024);
}

TEST_CASE("a tokenizer without a limit changes nothing") {
  const auto model = shape(R"("max_position_embeddings": 4096)",
                           R"({"model_max_length": 1000000000000000019884624838656})");
  CHECK(context_limit(model, Version{0, 19, 0}, false).limit_tokens == 4096);
}

TEST_CASE("a sliding window that is switched off limits the length") {
  const auto model = shape(R"("max_position_embeddings": 32768, "sliding_window": 4096)");
  CHECK(context_limit(model, Version{0, 19, 0}, false).limit_tokens == 32768);
  const ContextLimit limit = context_limit(model, Version{0, 19, 0}, true);
  CHECK(limit.limit_tokens == 4096);
  CHECK(limit.key == "sliding_window");
}
