// Sizes are those of images (of sound for Whisper), videos only where they outgrow them: their
// limits come from config.json where it has them, else from the processor that ships with the
// model. Source: get_num_image_tokens, get_image_size_with_most_features and get_max_image_tokens
// in vllm/model_executor/models (0.11 to 0.33); seen in the peaks of Gemma 3, Mistral Small 3.1,
// Granite Vision and Llama 4 Scout on 0.19, which these account for to 0.01 GiB.
#include "lint/models/encoder_profile.h"

#include <algorithm>
#include <array>

namespace kvbudget::models {
namespace {

using memory::EncoderProfile;

constexpr uint64_t kColours = 3;
constexpr uint64_t kMaxSide = 1u << 16;
// Alive in the widest layer of an encoder: states before and after attention, their sum and its
// norm, and the MLP's input and output of its activation. Qwen2.5-VL-7B logged 15.4 GiB for 14
// frames (0.23), for which this gives 14.3.
constexpr uint64_t kHiddenWidths = 4;
constexpr uint64_t kMlpWidths = 2;
constexpr uint64_t kGatedMlpWidths = 3;

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
EncoderProfile item(const Vision& vision, uint64_t tokens, uint64_t patches, uint64_t frames = 1,
                    uint64_t mlp_widths = kMlpWidths) {
  EncoderProfile profile;
  profile.item_tokens = tokens;
  profile.item_inputs = patches * vision.patch * vision.patch * kColours * frames;
  profile.item_peak = patches * (kHiddenWidths * vision.hidden + mlp_widths * vision.inner);
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
  uint64_t merge = 2;          ///< patches of a side that become a token
  uint64_t frames = 1;         ///< a still image is repeated
  bool gated = false;          ///< gate and up in the blocks' MLPs
  bool limits_pixels = false;  ///< max_pixels of mm-processor-kwargs
  bool videos_fill_context = false;
  uint64_t video_room = 0;
};
// Qwen2-VL: max_pixels 12,845,056 of 28 x 28 pixels a token. Qwen3-VL: longest_edge 16,777,216 of
// 32 x 32 pixels a token; videos have 12,288, which 0.11 and 0.12 took for 12.5 each, with the text
// between them. Kimi-VL: in_token_limit 4,096 patches. Gemma 4: vision_soft_tokens_per_image 280 of
// 3 x 3 patches.
constexpr std::array kFlexible = {
    Flexible{.model_types = "qwen2_vl",
             .most_tokens = 16384,
             .frames = 2,
             .limits_pixels = true,
             .videos_fill_context = true},
    Flexible{.model_types = "qwen2_5_vl|exaone4_5",
             .most_tokens = 16384,
             .frames = 2,
             .gated = true,
             .limits_pixels = true,
             .videos_fill_context = true},
    Flexible{.model_types = "qwen3_vl|qwen3_vl_moe",
             .most_tokens = 16384,
             .frames = 2,
             .limits_pixels = true,
             .video_room = 153600},
    Flexible{.model_types = "qwen3_5|qwen3_5_moe",
             .most_tokens = 16384,
             .frames = 2,
             .limits_pixels = true},
    Flexible{.model_types = "kimi_vl", .most_tokens = 1024},
    Flexible{.model_types = "gemma4", .most_tokens = 280, .merge = 3},
};

// Layers of the tower whose states reach the decoder besides.
uint32_t deepstack_levels(const Config& vision, std::string_view type) {
  constexpr uint32_t kUsual = 3;
  const Json* layers = vision.find("deepstack_visual_indexes");
  if (layers != nullptr && layers->is_array()) return static_cast<uint32_t>(layers->size());
  return type.starts_with("qwen3_vl") ? kUsual : 0;  // the default of its class
}

// Rope2DPosEmb.precomputed_freqs_cis in vllm/model_executor/models/moonvit.py (0.19, 0.32): two
// float32 for half a head at each position of a grid.
uint64_t moonvit_rotary_bytes(const Config& config, const Vision& vision) {
  constexpr uint64_t kSide = 512;
  constexpr uint64_t kComplexBytes = 8;
  const uint64_t heads = first_number(config, "num_attention_heads", 16);
  return kSide * kSide * (vision.hidden / heads / 2) * kComplexBytes;
}

}  // namespace

EncoderProfile read_encoder_profile(const Config& root) {
  if (root.text("model_type") == "whisper") return whisper(root);
  const auto vision_config = root.nested("vision_config");
  if (!vision_config) return {};
  const Vision vision = read_vision(*vision_config);
  const std::string type = root.text("model_type");
  for (const Flexible& flexible : kFlexible) {
    if (!listed(flexible.model_types, type)) continue;
    EncoderProfile profile =
        item(vision, flexible.most_tokens, flexible.most_tokens * flexible.merge * flexible.merge,
             flexible.frames, flexible.gated ? kGatedMlpWidths : kMlpWidths);
    const uint64_t side = flexible.merge * vision.patch;
    if (flexible.limits_pixels) profile.item_pixels = flexible.most_tokens * side * side;
    profile.videos_fill_context = flexible.videos_fill_context;
    profile.video_room = flexible.video_room;
    profile.output_widths += deepstack_levels(*vision_config, type);
    if (type == "kimi_vl") profile.kept_bytes = moonvit_rotary_bytes(*vision_config, vision);
    return profile;
  }
  if (type == "gemma3") return square(vision, first_number(root, "mm_tokens_per_image", 256));
  if (type == "mistral3") return pixtral(root, vision);
  if (type == "llava_next") return llava_next(root, vision);
  if (type == "llama4") return llama4(vision);
  return {};
}

}  // namespace kvbudget::models
