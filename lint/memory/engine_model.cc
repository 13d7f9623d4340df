#include "lint/memory/engine_model.h"

#include <algorithm>
#include <string_view>

#include "lint/memory/bytes.h"

namespace kvbudget::memory {
namespace {

// Tables are read downwards: the last row whose release has come holds.
template <typename Row, size_t N>
const Row& last_row(const Row (&rows)[N], EngineRelease release) {
  const Row* result = &rows[0];
  for (const Row& row : rows) {
    if (release.number >= row.since) result = &row;
  }
  return *result;
}

// Sampler. The peak of a dummy sampling step on logits of 2 bytes is
// - up to 0.16: 38 B an entry: float32 copy (4), torch.sort's values and 64-bit indices (12) and as
//   much again with its keys as scratch (20): vllm/v1/sample/ops/topk_topp_sampler.py. The V0
//   engine does the same (vllm/model_executor/layers/sampler.py). Confirmed to the logged digit by
//   0.6.4 (1.26 GiB), 0.10.2, 0.11 (six models) and 0.15, 0.16.
// - from 0.17: 14 B: float32 copy, probabilities and exponential noise; the Triton kernel that
//   filters in place keeps a float32 row per multiprocessor (topk_topp_triton.py). Later releases
//   call FlashInfer first and the same code after it. 27 models on 0.17 to 0.19.
// - runner V2 profiles without sampling parameters, so nothing but the logits (PRs 44443, 48037,
//   53183); its warm-up then takes about 7 B (0.26 GiB for 256 x 151,936: PR 57926). Its sampler
//   keeps counts of 4 B and a bit mask per entry (vllm/v1/worker/gpu/sample/penalties.py), made
//   after the weights are measured: outside every figure until memory_profiling took to measuring
//   the device in 0.27.
//
// Forward pass. Beside gate, up and their product: two hidden states, the attention's output and
// part of a fourth on V1 (granite-3.1-8b 0.85 GiB; first stage of Llama-3.1-8B 1.10); two on V2,
// whose figure leaves out what stays allocated (Qwen3-32B 0.33 GiB with 2,048 tokens).
//
// Expert workspaces belong to a manager that never frees them from 0.13
// (vllm/v1/worker/workspace.py); before, they came and went with the forward pass.
//
// Compiler. On a cold compile cache Inductor times kernels of the first piece with a second
// embedding table: 1.04 GiB for Qwen2.5-7B, 1.46 for Qwen3-14B and Qwen3-32B where warm starts log
// 0.33 (0.28; issues 54383, 54122); 0.48 GiB of cache missing for Llama-3.1-8B on 0.19. Nothing of
// it on 0.17.
//
// Encoders: runner V2 leaves them out of its profile before 0.27 (profile_run in
// vllm/v1/worker/gpu/model_runner.py).
//
// Graphs: gpu_worker.py subtracts its estimate by default from 0.20; runner V2 estimates nothing up
// to 0.28. The estimate is nine tenths of the pool on most models and twice the pool on some.
// Before workspaces were shared, each graph kept its own: 3.45 and 2.37 GiB on two models with
// experts (0.10.2); a dense one of 64 layers started with 0.71 GiB to spare (0.8.4). V0 failed with
// 0.44 GiB to spare (a Gemma 3 27B on 0.8.3).
struct ProfileRow {
  uint32_t since;
  ProfileRules rules;
};
constexpr ProfileRow kV0Rows[] = {
    {0, {36.0, false, 0.0, 0.0, false, 3.7, false, false, false, false, 1.4, 0.03, 0.05}},
};
constexpr ProfileRow kV1Rows[] = {
    {0, {36.0, false, 0.0, 0.0, false, 3.7, false, false, false, false, 0.6, 0.03, 0.02}},
    {1100, {36.0, false, 0.0, 0.0, false, 3.7, false, false, false, true, 1.0, 0.0, 0.01}},
    {1300, {36.0, false, 0.0, 0.0, false, 3.7, true, false, false, true, 1.0, 0.0, 0.01}},
    {1700, {12.0, true, 0.0, 0.0, false, 3.7, true, false, false, true, 1.0, 0.0, 0.01}},
    {1800, {12.0, true, 0.0, 0.0, false, 3.7, true, true, false, true, 1.0, 0.0, 0.01}},
    {2000, {12.0, true, 0.0, 0.0, false, 3.7, true, true, true, true, 0.9, 0.0, 0.02}},
};
constexpr ProfileRow kV2Rows[] = {
    {0, {0.0, false, 7.2, 4.125, false, 2.0, true, true, false, true, 0.9, 0.0, 0.3, true}},
    {2700, {0.0, false, 7.2, 4.125, true, 2.0, true, true, false, true, 0.9, 0.0, 0.3}},
    {2900, {0.0, false, 7.2, 4.125, true, 2.0, true, true, true, true, 0.9, 0.0, 0.3}},
};

// DEFAULT_V2_MODEL_RUNNER_ARCHITECTURES in vllm/config/vllm.py.
constexpr std::string_view kV2In022[] = {"Qwen3ForCausalLM"};
constexpr std::string_view kV2In024[] = {"Qwen3ForCausalLM",    "DeepseekV2ForCausalLM",
                                         "Qwen2MoeForCausalLM", "GraniteMoeForCausalLM",
                                         "LlamaForCausalLM",    "MistralForCausalLM"};
constexpr std::string_view kV2In025[] = {
    "DeepseekV2ForCausalLM",           "GraniteMoeForCausalLM",        "InklingForCausalLM",
    "InklingForConditionalGeneration", "LongcatFlashNgramForCausalLM", "Qwen2MoeForCausalLM"};

template <size_t N>
bool among(const std::string_view (&names)[N], std::string_view name) {
  return std::find(std::begin(names), std::end(names), name) != std::end(names);
}

// VllmConfig.use_v2_model_runner.
bool defaults_to_v2(const ModelShape& model, EngineRelease release) {
  const bool plain = model.num_experts == 0 && model.quantization.empty();
  if (release.at_least(29)) return true;
  if (release.at_least(25)) {
    return !model.has_cache(CacheKind::kMamba) &&
           (model.num_experts == 0 || among(kV2In025, model.architecture));
  }
  if (release.at_least(24)) return among(kV2In024, model.architecture);
  return release.at_least(22) && plain && among(kV2In022, model.architecture);
}

// Data-centre cards that rank with the others over NVLink and run its all-reduce kernels.
bool is_hopper_class(const GpuMemory& gpu) {
  return (gpu.capability_major == 9 || gpu.capability_major == 10) && gpu.total_bytes >= 60 * kGiB;
}

struct OverheadRow {
  uint32_t since;
  OverheadRules rules;
};

// GiB. V0 up to 0.6.4 and V1 up to 0.9.0 count all that is on the device, contexts included: 1.79
// on H100 and 3.58 with two ranks, 0.39 on a V100 (V0); 0.6 on an RTX 3090 (V1, 0.8.4). V1 on H100:
// 0.13 up to 0.17; from 0.18 0.25, because the figure is taken after graphs have been tried (two
// Granite models 0.46). Two ranks over NVLink: 0.55 in 0.11, 1.38 on H200 in 0.10.2, 2.07 from 0.19
// (all-reduce workspaces); four 2.13 to 2.21. Ada and Ampere cards show next to nothing up to 0.17;
// eight L40S over PCIe 0.21 (0.10.2).
constexpr OverheadRow kV0Overheads[] = {
    {0, {0.3, 0.9, 2.1, 0.1, 0.6, 2.2, 0.0}},
    {605, {0.03, 0.13, 0.5, 0.0, 0.15, 1.2, 0.0}},
};
constexpr OverheadRow kHopperOverheads[] = {
    {0, {0.50, 0.75, 1.90, 0.30, 0.60, 2.20, 0.10}},
    {901, {0.10, 0.13, 0.20, 0.30, 0.42, 1.40, 0.10}},
    {1800, {0.22, 0.25, 0.47, 1.70, 1.82, 2.00, 0.09}},
};
constexpr OverheadRow kOtherOverheads[] = {
    {0, {0.2, 0.5, 0.8, 0.0, 0.3, 1.2, 0.0}},
    {901, {0.0, 0.05, 0.15, 0.0, 0.15, 0.80, 0.0}},
    {1800, {0.03, 0.15, 0.40, 0.0, 0.15, 0.50, 0.0}},
};

}  // namespace

Runner runner_of(const ModelShape& model, const EngineSettings& settings) {
  if (settings.v0_engine) return Runner::kV0;
  const bool v2 = settings.model_runner_v2.value_or(defaults_to_v2(model, settings.release));
  return v2 ? Runner::kV2 : Runner::kV1;
}

ProfileRules profile_rules(Runner runner, EngineRelease release) {
  if (runner == Runner::kV0) return last_row(kV0Rows, release).rules;
  return runner == Runner::kV2 ? last_row(kV2Rows, release).rules
                               : last_row(kV1Rows, release).rules;
}

OverheadRules overhead_rules(Runner runner, EngineRelease release, const GpuMemory& gpu) {
  if (runner == Runner::kV0) return last_row(kV0Overheads, release).rules;
  return is_hopper_class(gpu) ? last_row(kHopperOverheads, release).rules
                              : last_row(kOtherOverheads, release).rules;
}

// Free memory missing at start on idle cards: 0.51 on one H100; 1.43 to 1.55 where NCCL's
// communicators are made before the engine looks (0.19: init_device), 2.01 to 2.07 for models with
// experts. Smaller cards 0.1 to 0.4.
ContextRules context_rules(Runner runner, EngineRelease release, const GpuMemory& gpu) {
  // These count the contexts as their own.
  if (runner == Runner::kV0 && !release.at_least(6, 5)) return {};
  if (runner == Runner::kV1 && !release.at_least(9, 1)) return {};
  if (is_hopper_class(gpu)) return {0.45, 0.51, 0.60, 1.00, 1.53, 1.65, 0.5};
  return {0.10, 0.25, 0.42, 0.20, 0.60, 1.20, 0.0};
}

// Product data; cards of one capability are told apart by their memory.
uint32_t multiprocessors(const GpuMemory& gpu) {
  struct Row {
    uint8_t major, minor;
    uint64_t least_gib;
    uint32_t count;
  };
  constexpr Row kRows[] = {{7, 0, 0, 80},   {7, 5, 0, 40},   {8, 0, 0, 108},  {8, 6, 0, 82},
                           {8, 9, 0, 58},   {8, 9, 23, 128}, {8, 9, 40, 142}, {9, 0, 0, 132},
                           {10, 0, 0, 148}, {10, 3, 0, 148}, {12, 0, 0, 170}, {12, 0, 90, 188},
                           {12, 1, 0, 48}};
  uint32_t count = 128;
  for (const Row& row : kRows) {
    const bool same = row.major == gpu.capability_major && row.minor == gpu.capability_minor;
    if (same && gpu.total_bytes >= row.least_gib * kGiB) count = row.count;
  }
  return count;
}

// parseChosenWorkspaceSize in aten/src/ATen/cuda/CUDABlas.cpp, torch 2.5 to 2.13.
uint64_t cublas_workspace_bytes(const GpuMemory& gpu) {
  const bool large =
      gpu.capability_minor == 0 && (gpu.capability_major == 9 || gpu.capability_major == 10);
  return large ? 32 * kMiB : 8 * kMiB + 128 * kKiB;
}

}  // namespace kvbudget::memory
