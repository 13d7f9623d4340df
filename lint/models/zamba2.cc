// vllm/model_executor/models/zamba2.py (0.8 to 0.32). The engine divides no Zamba2 into stages, so
// shared blocks have no layer of their own.
#include "lint/models/zamba2.h"

#include <algorithm>

#include "lint/models/layers.h"

namespace kvbudget::models {

using memory::ModelShape;
using memory::Place;
using memory::Split;

namespace {

constexpr uint64_t kMaxWidth = 1u << 24;

struct Blocks {
  uint64_t count = 0;
  uint64_t width = 0;  ///< of the attention: hidden states beside the embeddings
  uint64_t rank = 0;   ///< of the adapters
  bool attention_adapters = false;
};

Blocks blocks_of(const Config& config, const ModelShape& shape) {
  return {config.required("num_mem_blocks", 64),
          config.count("attention_hidden_size", kMaxWidth).value_or(2 * shape.hidden_size),
          config.required("adapter_rank", kMaxWidth),
          config.flag("use_shared_attention_adapter", false)};
}

void add_block(const Config& config, const Blocks& blocks, const ModelShape& shape,
               WeightList& list) {
  const auto matrix = [&](std::string_view name, uint64_t rows, uint64_t columns, Split split) {
    list.outer(name, rows, columns, split, Place::kEveryStage, true, blocks.count);
  };
  const uint64_t inner = shape.intermediate_size;
  matrix("shared.self_attn.qkv_proj", 3 * blocks.width, blocks.width, Split::kRows);
  matrix("shared.self_attn.o_proj", shape.hidden_size, blocks.width, Split::kColumns);
  matrix("shared.feed_forward.gate_up_proj", 2 * inner, shape.hidden_size, Split::kRows);
  matrix("shared.feed_forward.down_proj", shape.hidden_size, inner, Split::kColumns);
  list.outer("shared.layernorm", 3 * uint64_t{shape.hidden_size}, 1, Split::kNone,
             Place::kEveryStage, false, blocks.count);
  if (!config.flag("add_bias_linear", false)) return;
  list.outer("shared.feed_forward.bias", 2 * inner + shape.hidden_size, 1, Split::kNone,
             Place::kEveryStage, false, blocks.count);
}

void add_adapter(std::string_view module, uint64_t inputs, uint64_t rank, uint64_t outputs,
                 WeightList& list) {
  list.linear(module, {{"0", rank}}, inputs, false);
  list.linear(module, {{"1", outputs}}, rank, false);
}

}  // namespace

void add_shared_blocks(const Config& config, const std::vector<LayerPlan>& plan,
                       const ModelShape& shape, WeightList& list) {
  const Blocks blocks = blocks_of(config, shape);
  add_block(config, blocks, shape, list);
  for (uint32_t layer = 0; layer < plan.size(); ++layer) {
    if (!plan[layer].attention) continue;
    list.set_layer(layer);
    list.linear("linear", {{"weight", shape.hidden_size, Split::kNone}}, shape.hidden_size, false);
    add_adapter("gate_up_proj_adapter", shape.hidden_size, blocks.rank,
                2 * uint64_t{shape.intermediate_size}, list);
    if (!blocks.attention_adapters) continue;
    for (const char* name : {"linear_q_adapter", "linear_k_adapter", "linear_v_adapter"}) {
      add_adapter(name, blocks.width, blocks.rank, blocks.width, list);
    }
  }
}

}  // namespace kvbudget::models
