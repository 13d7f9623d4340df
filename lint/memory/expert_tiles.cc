// Source: create_weights and process_weights_after_loading of
// vllm/model_executor/layers/quantization/mxfp4.py (0.10.1 to 0.18), fused_moe/oracle/mxfp4.py
// (0.19 to 0.32: mxfp4_round_up_hidden_size_and_intermediate_size). gpt-oss-120b on one H100 logged
// 65.97 GiB with Marlin (0.10.1) and 64.38 with Triton (0.14.1); its checkpoint has 60.8.
#include "lint/memory/expert_tiles.h"

namespace kvbudget::memory {
namespace {

enum class Kernel : uint8_t { kMarlin, kTriton, kTrtLlm, kRocm };

// Ampere, Ada and consumer Blackwell have Marlin alone, data-centre Blackwell has FlashInfer.
// Hopper takes OpenAI's Triton kernels where they are installed: wheels bring them from 0.12 (PR
// 28788), and runs that name 0.11 had them too.
Kernel kernel_for(const ModelShape& model, const EngineSettings& settings, const GpuMemory& gpu) {
  if (gpu.capability_major == 0) return Kernel::kRocm;
  if (gpu.capability_major == 10) return Kernel::kTrtLlm;
  const bool installed = gpu.capability_major == 9 && settings.release.at_least(11);
  // Other models, and from 0.14 adapters, are not taken by the kernels that gpt-oss came with.
  const bool gpt_oss = model.architecture == "GptOssForCausalLM";
  const bool adapters = settings.lora.slots != 0 && settings.release.at_least(14);
  return installed && gpt_oss && !adapters ? Kernel::kTriton : Kernel::kMarlin;
}

}  // namespace

ExpertTiles expert_tiles(const ModelShape& model, const EngineSettings& settings,
                         const GpuMemory& gpu) {
  if (model.quantization != "mxfp4") return {};
  switch (kernel_for(model, settings, gpu)) {
    case Kernel::kMarlin:
      return {.inner = 128, .hidden = 256};
    case Kernel::kTrtLlm:
      return {.inner = settings.release.at_least(27) ? 128U : 256U,
              .hidden = 256,
              .float_biases = true};
    case Kernel::kRocm:
      return {.inner = 256, .hidden = 256};
    case Kernel::kTriton:
      break;
  }
  // HopperMXScaleLayout of triton_kernels 3.5 and 3.6: 2 x 8 warps x 16 rows. The scales as loaded
  // stay parameters of the layer until 0.25 deletes them.
  return {.inner = 64,
          .float_biases = true,
          .scale_rows = 256,
          .keeps_scales = !settings.release.at_least(25)};
}

}  // namespace kvbudget::memory
