// Two moments compete for the peak.
//
// 1. Sampling. The last stage gathers logits of max_num_seqs sequences over the whole vocabulary
// (tensor
//    parallelism does not divide them), copies them to float32 and filters them, while the hidden
//    states of the batch are still alive: vllm/v1/worker/gpu_model_runner.py, profile_run and
//    _dummy_sampler_run.
// 2. The widest MLP of the forward pass over max_num_batched_tokens tokens: gate, up and their
// product beside about
//    four hidden states.
//
// Expert kernels keep their workspaces (vllm/model_executor/layers/fused_moe) through both. A
// pipeline stage also holds the hidden states and residual it received, or hands on. Coefficients:
// engine_model.cc. Compared with runs in tests/memory/accuracy_test.cc.
#include "lint/memory/activation.h"

#include <algorithm>

#include "lint/memory/engine_model.h"

namespace kvbudget::memory {
namespace {

// What no tensor explains, found alike on every dense run of 0.15 to 0.19: graph inputs, block
// tables, metadata.
constexpr uint64_t kUnexplainedBytes = 40 * kMiB;
// The forward pass in units of tokens x elements, from runs where it is the peak (granite-3.1-8b on
// 0.19).
constexpr double kMlpWidths = 3.0;
constexpr double kHiddenWidths = 4.2;

uint64_t scaled(uint64_t bytes, double factor) {
  return static_cast<uint64_t>(static_cast<double>(bytes) * factor);
}

uint64_t hidden_bytes(const ModelShape& model, const EngineSettings& settings) {
  return mul(mul(settings.max_num_batched_tokens, model.hidden_size),
             layout::bits(settings.dtype) / 8);
}

uint64_t forward_bytes(const ModelShape& model, const EngineSettings& settings) {
  const uint64_t tp = std::max<uint64_t>(settings.tensor_parallel, 1);
  const uint64_t mlp = mul(mul(settings.max_num_batched_tokens, model.intermediate_size / tp),
                           layout::bits(settings.dtype) / 8);
  return add(scaled(mlp, kMlpWidths), scaled(hidden_bytes(model, settings), kHiddenWidths));
}

uint64_t expert_workspace(const ModelShape& model, const EngineSettings& settings) {
  if (model.num_experts == 0) return 0;
  const uint64_t tp =
      settings.expert_parallel ? 1 : std::max<uint64_t>(settings.tensor_parallel, 1);
  const uint64_t width = model.moe_intermediate_size / tp;
  const uint64_t hidden = model.hidden_size;
  const uint64_t rows = mul(settings.max_num_batched_tokens, model.experts_per_token);
  const uint64_t elements =
      mul(rows, add(std::max(mul(2, width), hidden), std::max(width, hidden)));
  return mul(elements, layout::bits(settings.dtype) / 8);
}

}  // namespace

uint64_t sampler_bytes(const ModelShape& model, const EngineSettings& settings) {
  const ProfileRules rules = profile_rules(settings.release, model.num_experts != 0);
  const double per_entry = rules.sampler_bytes + layout::bits(settings.dtype) / 8;
  return scaled(mul(settings.max_num_seqs, model.vocab_size), per_entry);
}

Interval activation_peak(const ModelShape& model, const EngineSettings& settings, uint32_t stage) {
  const ProfileRules rules = profile_rules(settings.release, model.num_experts != 0);
  const uint64_t hidden = hidden_bytes(model, settings);
  const bool last = stage + 1 >= settings.pipeline_parallel;
  uint64_t peak = forward_bytes(model, settings);
  if (last && rules.sampler == SamplerPlace::kInProfile) {
    peak = std::max(peak, add(sampler_bytes(model, settings), hidden));
  }
  // Received: hidden states and residual. Handed on: those and the output buffer.
  if (settings.pipeline_parallel > 1) peak = add(peak, mul(hidden, last ? 2 : 3));
  peak = add(peak, add(expert_workspace(model, settings), kUnexplainedBytes));
  Interval result;
  result.best = peak;
  result.low = scaled(peak, rules.activation_low);
  result.high = add(scaled(peak, rules.activation_high), rules.activation_extra_high_bytes);
  return result;
}

}  // namespace kvbudget::memory
