// Sizes are those of images (of sound for Whisper): their limits come from config.json where it has
// them, else from the processor that ships with the model. Source: get_num_image_tokens,
// get_image_size_with_most_features and get_max_image_tokens in vllm/model_executor/models (0.11 to
// 0.33); seen in the peaks of Gemma 3, Mistral Small 3.1, Granite Vision and Llama 4 Scout on 0.19,
// which these account for to 0.01 GiB.
#include "lint/models/encoder_profile.h"

#include <algorithm>
#include <array>

namespace kvbudget::models {
namespace {

using memory::EncoderProfile;

constexpr uint64_t kColours = 3;
constexpr uint64_t kMaxSide = 1u << 16;
// Alive in the widest layer of an encoder.
constexpr uint64_t kHiddenWidths = 4;
constexpr uint64_t kMlpWidths = 2;

struct Vision {
  uint64_t image;  ///< pixels of a side
  uint64_t patch;
  uint64_t hidden;
  uint64_t inner;
};

uint64_t first_number(const Config& config, std::string_view key, uint64_t otherwise) {
  const Json* value = config.find(key);
  if (value != nullptr && value->is_array() && !value->empty()) value = &(*value)[0];
  if (value == nullptr || !value->is_number_unsigned()) return otherwise;
  return std::clamp<uint64_t>(value->get<uint64_t>(), 1, kMaxSide);
}

Vision read_vision(const Config& vision) {
  const uint64_t hidden = first_number(vision, "embed_dim|hidden_size", 1152);
  const uint64_t ratio = first_number(vision, "mlp_ratio", 4);
  return {first_number(vision, "image_size", 0), first_number(vision, "patch_size", 14), hidden,
          first_number(vision, "intermediate_size", ratio * hidden)};
}

// `patches` go through the tower and leave it as `tokens`.
EncoderProfile item(const Vision& vision, uint64_t tokens, uint64_t patches, uint64_t frames = 1) {
  EncoderProfile profile;
  profile.item_tokens = tokens;
  profile.item_inputs = patches * vision.patch * vision.patch * kColours * frames;
  profile.item_peak = patches * (kHiddenWidths * vision.hidden + kMlpWidths * vision.inner);
  return profile;
}

// One square image.
EncoderProfile square(const Vision& vision, uint64_t tokens) {
  const uint64_t side = vision.image / vision.patch;
  return item(vision, tokens, side * side);
}

// Neighbouring patches become one token, rows end with a token.
EncoderProfile pixtral(const Config& root, const Vision& vision) {
  const uint64_t merge = first_number(root, "spatial_merge_size", 1);
  const uint64_t side = vision.image / std::max<uint64_t>(vision.patch * merge, 1);
  return square(vision, side * (side + 1));
}

// Tiles in the most generous grid of `image_grid_pinpoints`, each row of patches with a newline,
// and the whole image once more.
EncoderProfile llava_next(const Config& root, const Vision& vision) {
  const Json* grids = root.find("image_grid_pinpoints");
  if (grids == nullptr || !grids->is_array() || vision.image == 0) return {};
  const uint64_t side = vision.image / vision.patch;
  uint64_t most = 0;
  uint64_t tiles_of_most = 0;
  for (const Json& grid : *grids) {
    if (!grid.is_array() || grid.size() != 2 || !grid[0].is_number_unsigned() ||
        !grid[1].is_number_unsigned()) {
      continue;
    }
    const uint64_t rows = std::min<uint64_t>(grid[0].get<uint64_t>(), kMaxSide) / vision.image;
    const uint64_t columns = std::min<uint64_t>(grid[1].get<uint64_t>(), kMaxSide) / vision.image;
    const uint64_t tokens = rows * columns * side * side + rows * side;
    if (tokens <= most) continue;
    most = tokens;
    tiles_of_most = rows * columns;
  }
  return item(vision, most + side * side, (tiles_of_most + 1) * side * side);
}

// Up to 16 tiles and the whole image; four patches become a token.
EncoderProfile llama4(const Vision& vision) {
  constexpr uint64_t kTiles = 17;
  constexpr uint64_t kMerged = 4;
  const uint64_t side = vision.image / vision.patch;
  const uint64_t patches = kTiles * side * side;
  return item(vision, patches / kMerged, patches);
}

// Half a minute of sound: two frames of its mel spectrum become one position.
EncoderProfile whisper(const Config& root) {
  const uint64_t positions = first_number(root, "max_source_positions", 1500);
  const uint64_t hidden = first_number(root, "d_model", 384);
  const uint64_t inner = first_number(root, "encoder_ffn_dim", 1536);
  return {positions, 2 * positions * first_number(root, "num_mel_bins", 80),
          positions * (kHiddenWidths * hidden + kMlpWidths * inner)};
}

// Images of any size up to a number of patches.
struct Flexible {
  std::string_view model_types;
  uint64_t most_tokens;
  uint64_t merge;   ///< patches of a side that become a token
  uint64_t frames;  ///< a still image is repeated
};
constexpr std::array kFlexible = {
    // max_pixels 12,845,056 of 28 x 28 pixels a token.
    Flexible{"qwen2_vl|qwen2_5_vl|exaone4_5", 16384, 2, 2},
    // longest_edge 16,777,216 of 32 x 32 pixels a token.
    Flexible{"qwen3_vl|qwen3_vl_moe|qwen3_5|qwen3_5_moe", 16384, 2, 2},
    // in_token_limit 4,096 patches.
    Flexible{"kimi_vl", 1024, 2, 1},
    // vision_soft_tokens_per_image 280, of 3 x 3 patches.
    Flexible{"gemma4", 280, 3, 1},
};

}  // namespace

EncoderProfile read_encoder_profile(const Config& root) {
  if (root.text("model_type") == "whisper") return whisper(root);
  const auto vision_config = root.nested("vision_config");
  if (!vision_config) return {};
  const Vision vision = read_vision(*vision_config);
  const std::string type = root.text("model_type");
  for (const Flexible& flexible : kFlexible) {
    if (!listed(flexible.model_types, type)) continue;
    return item(vision, flexible.most_tokens,
                flexible.most_tokens * flexible.merge * flexible.merge, flexible.frames);
  }
  if (type == "gemma3") return square(vision, first_number(root, "mm_tokens_per_image", 256));
  if (type == "mistral3") return pixtral(root, vision);
  if (type == "llava_next") return llava_next(root, vision);
  if (type == "llama4") return llama4(vision);
  return {};
}

}  // namespace kvbudget::models
