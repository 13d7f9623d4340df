// vllm/model_executor/models/gemma3n.py (0.10 to 0.33).
#include "lint/models/gemma3n.h"

namespace kvbudget::models {

using memory::ModelShape;
using memory::Place;
using memory::Split;

namespace {
constexpr uint64_t kMaxWidth = 1u << 24;
}  // namespace

void add_alternating_updates(const Config& config, const ModelShape& shape, WeightList& list) {
  const uint64_t streams = config.required("altup_num_inputs", 64);
  const uint64_t rank = config.required("laurel_rank", kMaxWidth);
  const uint64_t hidden = shape.hidden_size;
  for (uint32_t layer = 0; layer < shape.num_layers; ++layer) {
    list.set_layer(layer);
    list.linear("altup", {{"correction_coefs", streams, Split::kNone}}, streams, false);
    list.linear("altup", {{"prediction_coefs", streams * streams, Split::kNone}}, streams, false);
    list.linear("altup", {{"modality_router", streams, Split::kNone}}, hidden, false);
    list.vectors("altup.router_norm", hidden);
    list.float_vector("altup.correct_output_scale", hidden);
    list.linear("laurel", {{"linear_left", rank}}, hidden, false);
    list.linear("laurel", {{"linear_right", hidden, Split::kColumns}}, rank, false);
    list.vectors("laurel.post_laurel_norm", hidden);
  }
  for (const char* name : {"altup_projections", "altup_unembed_projections"}) {
    list.outer(name, hidden, hidden, Split::kRows, Place::kEveryStage, false, streams - 1);
  }
}

}  // namespace kvbudget::models
