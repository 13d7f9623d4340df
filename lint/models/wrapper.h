// Models that wrap a decoder in encoders of images or sound, as data: which part of the config is
// the decoder, which parts are encoders, and the tensors of both.
//
// Tensors are texts like "attn.qkv R n 3*h h+1; norms N n 4*h 1": a name, how ranks divide it
// (R rows, C columns, N not at all), how many there are, rows and columns. `R/a` divides only where
// the ranks divide a. Letters are Sizes (sizes.h): small ones a tower's, capitals a wrapper's own;
// `o` is the decoder's width.
#pragma once

#include <array>
#include <span>
#include <string_view>

#include "lint/models/config.h"

namespace kvbudget::models {

/// One kind of encoder, by the model_type of its part of the config (towers.cc,
/// audio_towers.cc).
struct Tower {
  std::string_view names;      ///< "siglip_vision_model|…"
  std::string_view sizes;      ///< definitions, read from the encoder's part
  std::string_view blocks;     ///< tensors of the layers
  std::string_view rest;       ///< and those around them
  std::string_view more = {};  ///< of a second encoder
};

/// Blocks of most towers: LayerNorms, and biases everywhere.
inline constexpr std::string_view kPlain =
    "attn.qkv R n 3*h h+1; attn.proj C n h h; mlp.up R n i h+1; mlp.down C n h i; rest N n 6*h 1";

const Tower* find_tower(std::string_view name);
std::array<std::span<const Tower>, 2> tower_tables();
std::span<const Tower> audio_towers();

/// An encoder as one wrapper uses it; without `part` and `tower` there is none.
struct TowerUse {
  bool exists() const { return !part.empty() || !tower.empty(); }

  std::string_view part = {};   ///< path of its config; empty: the root itself
  std::string_view tower = {};  ///< empty: the part's model_type, else the root's
  /// Where else a part says its kind: a path below it.
  std::string_view kind = "model_type";
  std::string_view sizes = {};      ///< more definitions, and changes of the tower's
  std::string_view projector = {};  ///< tensors between encoder and decoder
};

struct Wrapper {
  std::string_view architectures;
  std::string_view text;  ///< where the decoder's config is; the root when it is not there
  /// A model type, for decoders whose config does not say; or an architecture, which the engine
  /// builds whatever the config says.
  std::string_view decoder;
  TowerUse vision = {};
  TowerUse audio = {};  ///< beside vision: absent from the model when its part is
  /// Definitions over the root; the row counts unless they set `Y` to 0.
  std::string_view when = {};
  bool usual_towers = false;  ///< parts that the config leaves out are those of the class
};

const Wrapper* find_wrapper(const Config& root, std::string_view architecture);
/// All rows, of all files.
std::array<std::span<const Wrapper>, 3> wrapper_tables();
std::span<const Wrapper> hub_wrappers();
std::span<const Wrapper> audio_wrappers();

}  // namespace kvbudget::models
