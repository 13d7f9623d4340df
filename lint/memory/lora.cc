// The create_lora_weights methods of vllm/lora/layers (vllm/lora/layers.py up to 0.10), and
// _create_lora_modules of vllm/lora/lora_model_manager.py for which layers have them; 0.9 to 0.33.
#include "lint/memory/lora.h"

#include <algorithm>

#include "lint/memory/bytes.h"
#include "lint/memory/rank_share.h"
#include "lint/memory/round_up.h"
#include "lint/memory/torch_allocator.h"

namespace kvbudget::memory {
namespace {

/// Stacks of one tensor-parallel rank.
class Slots {
 public:
  Slots(const ModelShape& model, const EngineSettings& settings)
      : model_(model), settings_(settings), lora_(settings.lora) {}

  uint64_t of_stage(uint32_t stage) const;

 private:
  uint64_t tp() const { return std::max<uint64_t>(settings_.tensor_parallel, 1); }
  uint64_t over_ranks(uint64_t number) const {
    return lora_.fully_sharded ? ceil_div(number, tp()) : number;
  }
  uint64_t stack(uint64_t rows, uint64_t columns, uint64_t copies = 1) const {
    const uint64_t elements = mul(mul(lora_.slots, copies), mul(rows, columns));
    return torch_allocated(mul(elements, layout::bits(lora_.type) / 8));
  }

  bool is_adapted(const Weight& weight) const;
  uint64_t of_linear(size_t begin, size_t end) const;
  uint64_t of_experts(const Weight& weight) const;
  uint64_t of_embeddings() const;
  uint64_t of_head() const;

  const ModelShape& model_;
  const EngineSettings& settings_;
  const LoraSlots& lora_;
};

// Routers are linear layers too, though nothing quantises them.
bool Slots::is_adapted(const Weight& weight) const {
  if (weight.expert && !settings_.release.at_least(11, 1)) return false;
  if (weight.encoder != Encoder::kNone) return false;
  return weight.place == Place::kLayers && (weight.linear || weight.name == "mlp.gate");
}

// A: [rank, inputs] for each matrix that adapters know apart, B: [outputs, rank].
uint64_t Slots::of_linear(size_t begin, size_t end) const {
  const Weight& first = model_.weights[begin];
  const bool whole = first.split == Split::kNone;
  const bool by_columns = first.split == Split::kColumns;
  const Dimensions share = on_rank(first, tp());
  const uint64_t a =
      stack(whole || by_columns ? lora_.rank : over_ranks(lora_.rank), share.columns);
  const bool one = (model_.lora.one_qkv && first.name == "self_attn.q_proj") ||
                   (model_.lora.one_gate_up && first.name == "mlp.gate_proj");
  if (!one) {
    uint64_t bytes = mul(a, end - begin);
    for (size_t i = begin; i < end; ++i) {
      const uint64_t rows = on_rank(model_.weights[i], tp()).rows;
      bytes = add(bytes, stack(by_columns ? over_ranks(rows) : rows, lora_.rank));
    }
    return bytes;
  }
  uint64_t rows = 0;
  for (size_t i = begin; i < end; ++i) rows = add(rows, on_rank(model_.weights[i], tp()).rows);
  return add(a, stack(rows, lora_.rank));
}

// The same for every expert; gate and up are told apart unless the checkpoint holds all experts in
// one tensor.
uint64_t Slots::of_experts(const Weight& weight) const {
  const RankShare share = rank_share(weight, settings_);
  const bool down = weight.split == Split::kColumns;
  const uint64_t shared = lora_.shared_experts ? 1 : share.copies;
  const uint64_t parts = model_.lora.experts_in_one ? 1 : std::max(weight.parts, 1U);
  if (down) {
    return add(stack(lora_.rank, share.matrix.columns, share.copies),
               stack(over_ranks(share.matrix.rows), lora_.rank, shared));
  }
  return mul(parts, add(stack(over_ranks(lora_.rank), share.matrix.columns, shared),
                        stack(share.matrix.rows / parts, lora_.rank, share.copies)));
}

// Adapters may replace embeddings; up to 0.11 they may add words too, for which model and slots
// have room. No rank has less than all of it.
uint64_t Slots::of_embeddings() const {
  const uint64_t words = lora_.extra_vocabulary;
  const uint64_t width = model_.hidden_size;
  const uint64_t added = mul(mul(words, width), layout::bits(settings_.dtype) / 8);
  return add(add(stack(add(model_.vocab_size, words), lora_.rank), stack(width, lora_.rank)),
             add(mul(lora_.slots, added), mul(lora_.slots, added) / tp()));
}

uint64_t Slots::of_head() const {
  constexpr uint64_t kPadding = 256;  // lora_vocab_padding_size
  const uint64_t words = mul(lora_.extra_vocabulary, lora_.slots);
  uint64_t rows = add(model_.vocab_size, words);
  if (lora_.extra_vocabulary != 0) rows = round_up(rows, kPadding);
  const uint64_t width = model_.hidden_size;
  const uint64_t added = mul(mul(words, width), layout::bits(settings_.dtype) / 8);
  const uint64_t in_head = model_.tied_embeddings ? 0 : added / tp();
  return add(add(stack(lora_.rank, width), stack(rows, lora_.rank)), add(added, in_head));
}

uint64_t Slots::of_stage(uint32_t stage) const {
  uint64_t total = 0;
  for (size_t i = 0; i < model_.weights.size();) {
    const size_t begin = i;
    while (++i < model_.weights.size() && model_.weights[i].fused_with_previous) continue;
    const Weight& first = model_.weights[begin];
    if (!is_adapted(first)) continue;
    const uint64_t bytes = first.expert ? of_experts(first) : of_linear(begin, i);
    const uint64_t times = times_on_stage(first, model_, settings_, stage);
    total = add(total, mul(bytes, mul(times, first.separate_copies)));
  }
  const LoraModules& modules = model_.lora;
  const bool first = stage == 0;
  const bool last = stage + 1 >= std::max(settings_.pipeline_parallel, 1U);
  if (!modules.embeddings || !settings_.release.at_least(*modules.embeddings)) return total;
  if (first) total = add(total, of_embeddings());
  return last && modules.head ? add(total, of_head()) : total;
}

}  // namespace

uint64_t lora_bytes(const ModelShape& model, const EngineSettings& settings, uint32_t stage) {
  return settings.lora.slots == 0 ? 0 : Slots(model, settings).of_stage(stage);
}

}  // namespace kvbudget::memory
