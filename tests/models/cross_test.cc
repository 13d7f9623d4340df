#include "lint/memory/weights.h"
#include "tests/models/shapes.h"
#include "tests/support/catch.h"

using namespace kvbudget;
using test::read;

namespace {

std::string whisper(const std::string& changes = "") {
  return R"({"architectures": ["WhisperForConditionalGeneration"], "model_type": "whisper",
    "is_encoder_decoder": true, "encoder_layers": 3, "decoder_layers": 2, "num_hidden_layers": 3,
    "d_model": 64, "encoder_attention_heads": 4, "decoder_attention_heads": 8,
    "encoder_ffn_dim": 128, "decoder_ffn_dim": 96, "vocab_size": 1000, "num_mel_bins": 8,
    "max_source_positions": 20, "max_target_positions": 12)" +
         changes + "}";
}

std::string mllama(const std::string& cross_layers) {
  return R"({"architectures": ["MllamaForConditionalGeneration"], "model_type": "mllama",
    "text_config": {"model_type": "mllama_text_model", "num_hidden_layers": 4, "hidden_size": 64,
      "num_attention_heads": 8, "num_key_value_heads": 2, "intermediate_size": 96,
      "vocab_size": 1000, "cross_attention_layers": )" +
         cross_layers + R"(, "max_position_embeddings": 512},
    "vision_config": {"model_type": "mllama_vision_model", "hidden_size": 32,
      "intermediate_size": 48, "num_hidden_layers": 2, "num_global_layers": 1,
      "attention_heads": 4, "image_size": 28, "patch_size": 14, "max_num_tiles": 2,
      "vision_output_dim": 96, "supported_aspect_ratios": [[1, 1], [1, 2], [2, 1]]}})";
}

std::string kinds(const memory::ModelShape& shape) {
  std::string text;
  for (const memory::LayerCache& cache : shape.caches) {
    text += cache.kind == memory::CacheKind::kCross ? 'x' : 'f';
  }
  return text;
}

constexpr uint64_t attention(uint64_t width) { return 4 * width * width + 4 * width; }
constexpr uint64_t mlp(uint64_t width, uint64_t inner) { return 2 * width * inner + inner + width; }

}  // namespace

TEST_CASE("decoder layers of Whisper keep the tokens and what the encoder heard") {
  const memory::ModelShape shape = read(whisper());
  CHECK(kinds(shape) == "fxfx");
  CHECK(shape.num_layers == 3);  // as the engine counts: those of the encoder
  CHECK(shape.multimodal);
  CHECK(shape.encoder.item_tokens == 20);
  for (const memory::LayerCache& cache : shape.caches) {
    CHECK(cache.kv_heads == 8);
    CHECK(cache.head_dim == 8);
  }
}

TEST_CASE("Whisper's weights are those of encoder and decoder, the head being the embeddings") {
  const uint64_t encoder = 3 * (attention(64) + mlp(64, 128) + 2 * 128) + 64 * (3 * 8 + 1) +
                           64 * (3 * 64 + 1) + 20 * 64 + 128;
  const uint64_t decoder = 2 * (2 * attention(64) + mlp(64, 96) + 3 * 128) + (1000 + 12) * 64 + 128;
  CHECK(memory::parameter_count(read(whisper())) == encoder + decoder);
}

TEST_CASE("no rank divides the embeddings of Whisper") {
  const memory::ModelShape shape = read(whisper());
  memory::EngineSettings settings;
  const uint64_t whole = memory::rank_weight_bytes(shape, settings, 0);
  settings.tensor_parallel = 8;
  CHECK(memory::rank_weight_bytes(shape, settings, 0) > whole / 8 + 1000 * 64 * 2 * 7 / 8);
}

TEST_CASE("Mllama's cross attention stands where a layer's own would") {
  const memory::ModelShape shape = read(mllama("[1, 3]"));
  CHECK(kinds(shape) == "fxfx");
  CHECK(shape.caches[1].layer == 1);
  CHECK(shape.caches[1].kv_heads == 2);
}

TEST_CASE("decoders that attend to an encoder in ways that do not add up are refused") {
  CHECK(test::shape_of(whisper(R"(, "decoder_layers": 4)")).error.find("more than the 3 layers") !=
        std::string::npos);
  CHECK(test::shape_of(mllama("[1, 4]")).error.find("does not exist") != std::string::npos);
  CHECK(test::shape_of(mllama("null")).error.find("cross_attention_layers") != std::string::npos);
  CHECK(test::shape_of(mllama("[-1]")).shape == nullptr);
}
