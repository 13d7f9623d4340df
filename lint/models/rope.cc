// Rows of the cos/sin caches follow vllm/model_executor/layers/rotary_embedding (0.6 to 0.33);
// keys of the context length vllm's _get_and_verify_max_len.
#include "lint/models/rope.h"

#include <array>
#include <cmath>

#include "lint/models/deepseek_v4.h"

namespace kvbudget::models {

using memory::ContextSource;
using memory::ModelShape;

namespace {

constexpr uint64_t kMaxPositions = uint64_t{1} << 40;
constexpr uint64_t kFloatRows = 2;  // float32 is two of the model's 16-bit numbers

struct Rope {
  std::string type;
  double factor = 1.0;
  uint64_t original = 0;
  bool sections = false;  ///< mrope
  bool alpha = false;     ///< dynamic NTK by alpha does not lengthen the cache
  double fraction = 0.0;  ///< partial_rotary_factor, 0 when not stated
};

Rope read_rope(const Config& block) {
  Rope rope;
  rope.type = block.text("rope_type|type");
  if (rope.type == "su") rope.type = "longrope";
  rope.sections = rope.type == "mrope" || block.has("mrope_section");
  if (rope.type == "mrope") rope.type = "default";
  rope.alpha = block.has("alpha");
  rope.factor = block.number("factor", 1.0);
  if (rope.factor <= 0.0 || rope.factor > 1e6) block.fail("key 'factor' of rope is out of range");
  rope.original = block.count("original_max_position_embeddings", kMaxPositions).value_or(0);
  rope.fraction = block.number("partial_rotary_factor", 0.0);
  return rope;
}

// The block for full attention; newer configs have one for each kind of layer.
std::optional<Config> rope_block(const Config& config) {
  for (const std::string_view key : {"rope_parameters", "rope_scaling"}) {
    const auto block = config.nested(key);
    if (!block) continue;
    if (const auto full = block->nested("full_attention")) return full;
    return block;
  }
  return std::nullopt;
}

uint64_t scaled(uint64_t positions, double factor) {
  return static_cast<uint64_t>(static_cast<double>(positions) * factor);
}

uint64_t cache_rows(const Rope& rope, uint64_t positions) {
  const uint64_t original = rope.original > 0 ? rope.original : positions;
  uint64_t rows = positions;
  if (rope.type == "linear" || (rope.type == "dynamic" && !rope.alpha)) {
    rows = scaled(positions, rope.factor);
  } else if (rope.type == "yarn" || rope.type == "deepseek_yarn") {
    rows = scaled(original, rope.factor);
  } else if (rope.type == "longrope") {
    rows = original + positions;  // short and long factors
  }
  return rope.sections ? 4 * rows : rows;
}

uint32_t rotary_width(const Config& config, const Family& family, const Rope& rope,
                      const ModelShape& shape) {
  const auto stated = config.count("rotary_dim|qk_rope_head_dim", shape.head_dim);
  if (stated) return static_cast<uint32_t>(*stated);
  double fraction = config.number("partial_rotary_factor|rotary_pct", family.rotary_fraction);
  if (rope.fraction > 0.0) fraction = rope.fraction;
  if (!(fraction > 0.0 && fraction <= 1.0)) {
    config.fail("key 'partial_rotary_factor' is out of range");
    return 0;
  }
  return static_cast<uint32_t>(std::lround(shape.head_dim * fraction));
}

void read_context(const Config& config, const Rope& rope, ContextSource& context) {
  constexpr std::array<std::string_view, 9> kKeys = {"max_position_embeddings",
                                                     "n_positions",
                                                     "max_seq_len",
                                                     "seq_length",
                                                     "model_max_length",
                                                     "max_target_positions",
                                                     "max_sequence_length",
                                                     "max_seq_length",
                                                     "seq_len"};
  for (const std::string_view key : kKeys) {
    if (const auto length = config.count(key, kMaxPositions)) {
      context.keys.emplace_back(key, *length);
    }
  }
  context.model_max_length = config.count("model_max_length", kMaxPositions);
  context.rope_type = rope.type;
  context.rope_factor = rope.factor;
  if (rope.original > 0) context.rope_original_length = rope.original;
}

}  // namespace

void read_positions(const Config& config, const Family& family, ModelShape& shape) {
  Rope rope;
  if (const auto block = rope_block(config)) rope = read_rope(*block);
  if (rope.original == 0) {  // Phi-3 keeps it beside the block
    rope.original = config.count("original_max_position_embeddings", kMaxPositions).value_or(0);
  }
  read_context(config, rope, shape.context);
  if (family.positions != Positions::kRotary || config.flag("alibi", false)) return;
  if (family.attention_free || config.text("position_embedding_type") == "nope") return;
  if (family.deepseek_v4) return set_compressed_rotary(config, shape);
  const uint64_t positions =
      config
          .count(
              "max_position_embeddings|max_position_embedding|n_positions|seq_length|max_seq_len",
              kMaxPositions)
          .value_or(8192);
  if (rope.type == "proportional") {  // Gemma 4: a cache as wide as the heads of full layers
    const uint64_t wide = config.count("global_head_dim", 1u << 24).value_or(shape.head_dim);
    shape.rotary_dim = shape.head_dim;
    shape.rotary_cache_positions = positions * wide / shape.head_dim + positions;
    return;
  }
  shape.rotary_dim = rotary_width(config, family, rope, shape);
  shape.rotary_cache_positions = cache_rows(rope, positions);
  if (family.local_rope) shape.rotary_cache_positions += positions;
  if (family.float_rope) shape.rotary_cache_positions *= kFloatRows;
}

}  // namespace kvbudget::models
