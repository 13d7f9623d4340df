#include "lint/memory/overheads.h"

#include "lint/memory/engine_model.h"

namespace kvbudget::memory {
namespace {

uint64_t from_gib(double value) { return static_cast<uint64_t>(value * static_cast<double>(kGiB)); }

}  // namespace

Interval non_torch_bytes(const EngineSettings& settings, const GpuMemory& gpu) {
  const OverheadRules rules = overhead_rules(settings.release, gpu);
  if (settings.tensor_parallel <= 1 && settings.pipeline_parallel > 1) {
    // A pipeline of single GPUs showed 0.07 GiB a stage (0.19, H100): less than one GPU alone.
    return {from_gib(rules.single_low / 4), from_gib(rules.single_best / 4),
            from_gib(rules.single_high)};
  }
  const double with_tp = settings.tensor_parallel > 1 ? 1.0 : 0.0;
  return {from_gib(rules.single_low + with_tp * rules.tensor_low),
          from_gib(rules.single_best + with_tp * rules.tensor_best),
          from_gib(rules.single_high + with_tp * rules.tensor_high)};
}

// GiB missing at start on idle H100s: 0.51 alone, 1.53 with tensor parallelism (0.19). Smaller
// cards: about 0.3.
Interval cuda_context_bytes(const EngineSettings& settings) {
  if (settings.tensor_parallel > 1) return {from_gib(0.5), from_gib(1.0), from_gib(1.6)};
  return {from_gib(0.2), from_gib(0.4), from_gib(0.6)};
}

// The engine measures two captures and extrapolates. Its estimates on H100 (0.19, 51 sizes,
// piecewise and full) lie between 0.52 and 1.82 GiB with a median of 0.82; one size alone has been
// seen at 0.03 GiB, eight-layer-count differences are smaller than the spread between two runs of
// one model.
Interval cuda_graph_bytes(const ModelShape& model, const EngineSettings& settings) {
  if (settings.cudagraph_sizes == 0 || settings.enforce_eager) return {};
  constexpr double kFirst = 0.03;
  constexpr double kPerSizeLow = 0.008, kPerSizeBest = 0.015, kPerSizeHigh = 0.036;
  const double sizes = settings.cudagraph_sizes;
  const double moe_high = model.num_experts == 0 ? 1.0 : 1.4;
  return {from_gib(kPerSizeLow * sizes), from_gib(kFirst + kPerSizeBest * sizes),
          from_gib((kFirst + kPerSizeHigh * sizes) * moe_high)};
}

}  // namespace kvbudget::memory
