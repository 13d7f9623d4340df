// Putting a ModelShape's list of weights together, layer by layer.
#pragma once

#include <initializer_list>
#include <map>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "lint/memory/model_shape.h"
#include "lint/models/family.h"
#include "lint/models/quantization.h"

namespace kvbudget::models {

struct LayerPlan;

/// One of the matrices that the engine fuses into one tensor: "q_proj" of the fused qkv.
struct Part {
  std::string_view name;
  uint64_t rows = 0;
  memory::Split split = memory::Split::kRows;
  uint32_t head_dim = 0;  ///< for Split::kKvHeads
  uint32_t parts = 1;     ///< matrices of equal rows in it
};

/// Appends weights; equal ones of consecutive layers become one entry.
class WeightList {
 public:
  WeightList(memory::ModelShape& shape, const Quantization& quantization)
      : shape_(shape), quantization_(quantization) {}

  void set_layer(uint32_t layer) { set_layer(layer, "layers." + std::to_string(layer) + "."); }
  /// `path` is how quantisation lists name what follows.
  void set_layer(uint32_t layer, std::string path) {
    layer_ = layer;
    path_ = std::move(path);
  }
  /// The modules that follow are the `part`-th of their kind in the layer.
  void set_part(uint32_t part) { part_ = part; }

  /// A linear layer "self_attn" + parts, quantised when the checkpoint says so.
  void linear(std::string_view module, std::initializer_list<Part> parts, uint64_t columns,
              bool bias);
  /// The same matrix of every expert, as one tensor.
  void experts(std::string_view module, const Part& part, uint64_t columns, uint64_t count,
               bool bias);
  /// Vectors that every rank holds, in the model's dtype; `count` tensors of `rows`.
  void vectors(std::string_view name, uint64_t rows, uint64_t count = 1);
  /// A float32 matrix, divided by rows.
  void float_rows(std::string_view name, uint64_t rows, uint64_t columns);
  /// A float32 matrix or vector that every rank holds.
  void float_matrix(std::string_view name, uint64_t rows, uint64_t columns);
  void float_vector(std::string_view name, uint64_t rows) { float_matrix(name, rows, 1); }
  /// A matrix in the model's dtype that is divided by rows and never quantised.
  void derived(std::string_view name, uint64_t rows, uint64_t columns);
  /// A matrix that is never quantised and held whole: a router, torch's own nn.Linear.
  void router(std::string_view name, uint64_t rows, uint64_t columns);

  /// Outside of layers.
  void outer(std::string_view name, uint64_t rows, uint64_t columns, memory::Split split,
             memory::Place place, bool may_be_quantized = false, uint64_t copies = 1);

  /// Of an encoder: on every stage, never quantised. `heads`: see memory::Weight.
  void encoder(memory::Encoder encoder, std::string_view name, uint64_t rows, uint64_t columns,
               memory::Split split, uint64_t copies, uint64_t heads);

  memory::WeightFormat plain() const;

 private:
  void add(std::vector<memory::Weight> tensor);
  memory::Weight layer_weight(std::string name) const;
  const memory::WeightFormat* format_of(std::string_view module, std::string_view part,
                                        bool expert) const;

  memory::ModelShape& shape_;
  const Quantization& quantization_;
  uint32_t layer_ = 0;
  uint32_t part_ = 0;
  std::string path_;
  std::map<std::string, size_t, std::less<>> last_;  ///< where a tensor's newest entry starts
};

/// Attention or state, MLP or experts, and norms of one layer.
void add_decoder_layer(const Config& config, const Family& family, const LayerPlan& plan,
                       uint32_t layer, WeightList& list, memory::ModelShape& shape);

/// Embeddings, head, norms, attention and MLPs or experts of every layer.
void add_weights(const Config& config, const Family& family, const std::vector<LayerPlan>& plan,
                 WeightList& list, memory::ModelShape& shape);

}  // namespace kvbudget::models
