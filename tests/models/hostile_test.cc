#include <chrono>
#include <random>

#include "lint/memory/weights.h"
#include "tests/models/configs.h"
#include "tests/models/shapes.h"
#include "tests/support/catch.h"

using namespace kvbudget;

namespace {

const std::string kGood = R"({"architectures": ["Qwen3MoeForCausalLM"], "model_type": "qwen3_moe",
  "num_hidden_layers": 4, "hidden_size": 64, "num_attention_heads": 8, "num_key_value_heads": 2,
  "head_dim": 16, "intermediate_size": 128, "moe_intermediate_size": 32, "num_experts": 8,
  "num_experts_per_tok": 2, "vocab_size": 1000, "max_position_embeddings": 512,
  "layer_types": ["full_attention", "sliding_attention", "full_attention", "full_attention"],
  "sliding_window": 128, "use_sliding_window": true, "max_window_layers": 1,
  "rope_scaling": {"rope_type": "yarn", "factor": 2.0, "original_max_position_embeddings": 256},
  "quantization_config": {"quant_method": "fp8", "weight_block_size": [128, 128],
                          "modules_to_not_convert": ["lm_head", "re:.*q_proj"]},
  "time_step_limit": [0.0, Infinity], "other": [NaN, -Infinity], "text": "Infinity \" NaN"})";

std::string replaced(std::string text, const std::string& from, const std::string& to) {
  const size_t at = text.find(from);
  REQUIRE(at != std::string::npos);
  return text.replace(at, from.size(), to);
}

}  // namespace

TEST_CASE("a config with the bare words that Python writes is read") {
  const ShapeResult result = test::shape_of(kGood);
  INFO(result.error);
  CHECK(result.shape != nullptr);
}

TEST_CASE("a value that makes no sense is refused with its key") {
  for (const char* value : {"-1", "4.5", "\"4\"", "true", "[]", "{}", "1e300", "0", "null",
                            "18446744073709551615", "99999999999999999999999999"}) {
    for (const char* key : {"num_hidden_layers", "hidden_size", "num_attention_heads", "vocab_size",
                            "num_experts", "moe_intermediate_size"}) {
      const std::string pair = "\"" + std::string(key) + "\": ";
      const size_t at = kGood.find(pair) + pair.size();
      const std::string text = kGood.substr(0, at) + value + kGood.substr(kGood.find(',', at));
      const ShapeResult result = test::shape_of(text);
      INFO(key << " = " << value);
      CHECK(result.shape == nullptr);
      CHECK(result.error.find(key) != std::string::npos);
    }
  }
}

TEST_CASE("the largest numbers that are accepted never wrap the byte counts") {
  std::string text = replaced(kGood, "\"hidden_size\": 64", "\"hidden_size\": 16777216");
  text = replaced(text, "\"vocab_size\": 1000", "\"vocab_size\": 268435456");
  text = replaced(text, "\"moe_intermediate_size\": 32", "\"moe_intermediate_size\": 16777216");
  const ShapeResult result = test::shape_of(text);
  INFO(result.error);
  REQUIRE(result.shape != nullptr);
  memory::EngineSettings settings;
  CHECK(memory::rank_weight_bytes(*result.shape, settings, 0) > uint64_t{1} << 50);
}

TEST_CASE("text that is no JSON object is an error") {
  for (const char* text : {"", " ", "{", "[]", "null", "1", "\"x\"", "{\"a\": }", "\xff\xfe{}",
                           "{\"a\": \"\xc3\x28\"}", "Infinity", "{} {}"}) {
    const ShapeResult result = test::shape_of(text);
    INFO(text);
    CHECK(result.shape == nullptr);
    CHECK(result.error != "");
  }
}

TEST_CASE("deep nesting is refused") {
  for (const char* unit : {"[", "{\"a\":"}) {
    std::string text = "{\"a\": ";
    for (int i = 0; i < 100000; ++i) text += unit;
    const ShapeResult result = test::shape_of(text);
    CHECK(result.shape == nullptr);
    CHECK(result.error.find("nested deeper") != std::string::npos);
  }
}

TEST_CASE("every truncation and many corruptions of a config end in a shape or an error") {
  const auto start = std::chrono::steady_clock::now();
  for (size_t size = 0; size < kGood.size(); ++size) {
    CHECK(test::shape_of(kGood.substr(0, size)).error != "");
  }
  std::mt19937 random(7);
  const std::string alphabet = "\"{}[]:,0123456789-.eE\\ntfalsINu \xff";
  for (const std::string& good : {kGood, std::string(test::kLatent), std::string(test::kDelta),
                                  std::string(test::kMamba), std::string(test::kVision)}) {
    for (int round = 0; round < 1500; ++round) {
      std::string text = good;
      for (int change = 0; change < 3; ++change) {
        text[random() % text.size()] = alphabet[random() % alphabet.size()];
      }
      const ShapeResult result = test::shape_of(text);
      CHECK((result.shape == nullptr) == !result.error.empty());
    }
  }
  CHECK(std::chrono::steady_clock::now() - start < std::chrono::seconds(60));
}

TEST_CASE("patterns cannot make the matcher hang") {
  const std::string list = R"(["lm_head", "re:(.*)*(.*)*(.*)*(.*)*(.*)*x", "a*a*a*a*a*a*a*a*b"])";
  const ShapeResult result = test::shape_of(replaced(kGood, R"(["lm_head", "re:.*q_proj"])", list));
  CHECK((result.shape == nullptr) == !result.error.empty());
}

TEST_CASE("numbers of any size in any place end in a shape or an error") {
  std::mt19937 random(11);
  const char* const numbers[] = {"0",        "-1",         "1",          "4096",
                                 "16777216", "4294967295", "4294967296", "18446744073709551615",
                                 "1e18",     "0.5",        "-0.0",       "1e308"};
  for (const char* good :
       {test::kDense, test::kLatent, test::kDelta, test::kMamba, test::kVision}) {
    const std::string text(good);
    for (size_t at = text.find_first_of("0123456789"); at != std::string::npos;
         at = text.find_first_of("0123456789", at)) {
      const size_t end = text.find_first_not_of("0123456789.", at);
      if (text[at - 1] == ' ') {
        for (const char* number : numbers) {
          const ShapeResult result = test::shape_of(text.substr(0, at) + number + text.substr(end));
          CHECK((result.shape == nullptr) == !result.error.empty());
          if (result.shape == nullptr) continue;
          memory::EngineSettings settings;
          settings.tensor_parallel = 8;
          CHECK(memory::rank_weight_bytes(*result.shape, settings, 0) > 0);
        }
      }
      at = end;
    }
  }
}
