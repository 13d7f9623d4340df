#include "lint/memory/weights.h"

#include "lint/memory/torch_allocator.h"
#include "tests/support/catch.h"

using namespace kvbudget::memory;

namespace {

Weight matrix(uint64_t rows, uint64_t columns, Split split, Place place) {
  Weight weight;
  weight.rows = rows;
  weight.columns = columns;
  weight.split = split;
  weight.place = place;
  return weight;
}

EngineSettings parallel(uint32_t tp, uint32_t pp) {
  EngineSettings settings;
  settings.tensor_parallel = tp;
  settings.pipeline_parallel = pp;
  return settings;
}

uint64_t bytes(const Weight& weight, const EngineSettings& settings, uint32_t stage = 0) {
  ModelShape model;
  model.num_layers = 4;
  model.weights = {weight};
  return rank_weight_bytes(model, settings, stage);
}

}  // namespace

TEST_CASE(
    "the allocator rounds up to 512 bytes, and large tensors to 2 MiB when little would be left "
    "over") {
  CHECK(torch_allocated(0) == 0);
  CHECK(torch_allocated(1) == 512);
  CHECK(torch_allocated(5 * kMiB) == 5 * kMiB);
  CHECK(torch_allocated(259 * kMiB) == 260 * kMiB);
  CHECK(torch_allocated(24 * kMiB + kMiB / 2) == 24 * kMiB + kMiB / 2);
}

TEST_CASE("tensor parallelism divides rows, columns and padded vocabularies, and copies the rest") {
  CHECK(bytes(matrix(1024, 1024, Split::kRows, Place::kFirstStage), parallel(4, 1)) == kMiB / 2);
  CHECK(bytes(matrix(1024, 1024, Split::kColumns, Place::kFirstStage), parallel(4, 1)) == kMiB / 2);
  CHECK(bytes(matrix(1024, 1024, Split::kNone, Place::kFirstStage), parallel(4, 1)) == 2 * kMiB);
  // 1,000 words are padded to 1,024 before they are divided.
  CHECK(bytes(matrix(1000, 1024, Split::kVocabulary, Place::kFirstStage), parallel(2, 1)) == kMiB);
}

TEST_CASE("key and value heads are never divided below one") {
  Weight weight = matrix(4 * 128, 1024, Split::kKvHeads, Place::kFirstStage);
  weight.head_dim = 128;
  CHECK(bytes(weight, parallel(2, 1)) == 2 * 128 * 1024 * 2);
  CHECK(bytes(weight, parallel(8, 1)) == 1 * 128 * 1024 * 2);
}

TEST_CASE("pipeline stages hold their own layers, and a tied head once more on the last") {
  Weight layers = matrix(512, 512, Split::kNone, Place::kLayers);
  layers.layer_count = 4;
  CHECK(bytes(layers, parallel(1, 2), 0) == 2 * kMiB / 2);
  CHECK(bytes(layers, parallel(1, 2), 1) == 2 * kMiB / 2);
  const Weight tied = matrix(512, 512, Split::kNone, Place::kLastStageCopy);
  CHECK(bytes(tied, parallel(1, 1), 0) == 0);
  CHECK(bytes(tied, parallel(1, 2), 1) == kMiB / 2);
}

TEST_CASE("expert parallelism gives each rank whole experts") {
  Weight experts = matrix(512, 512, Split::kRows, Place::kFirstStage);
  experts.copies = 8;
  experts.expert = true;
  EngineSettings settings = parallel(4, 1);
  CHECK(bytes(experts, settings) == 8 * kMiB / 2 / 4);
  settings.expert_parallel = true;
  settings.data_parallel = 2;
  CHECK(bytes(experts, settings) == 1 * kMiB / 2);
}

TEST_CASE("quantised weights carry a scale and a zero point per group") {
  Weight weight = matrix(128, 256, Split::kNone, Place::kFirstStage);
  weight.format.fixed_type = true;
  weight.format.bits = 4;
  weight.format.group = 128;
  weight.format.scale_bits = 16;
  weight.format.zero_bits = 4;
  // 16,384 bytes of weights; 128 x 2 groups of 20 bits.
  CHECK(bytes(weight, parallel(1, 1)) == 16384 + 1024);
}

TEST_CASE("host offload moves whole tensors, layer by layer, until it has enough") {
  ModelShape model;
  model.num_layers = 4;
  Weight small = matrix(1024, 1024, Split::kNone, Place::kLayers);
  Weight large = matrix(4096, 1024, Split::kNone, Place::kLayers);
  small.layer_count = large.layer_count = 4;
  model.weights = {matrix(1024, 1024, Split::kNone, Place::kFirstStage), small, large};
  const auto moved = [&](uint64_t wanted) {
    return offloaded_bytes(model, parallel(1, 1), 0, wanted);
  };
  CHECK(moved(1) == 2 * kMiB);
  CHECK(moved(3 * kMiB) == 10 * kMiB);
  CHECK(moved(11 * kMiB) == 12 * kMiB);
  CHECK(moved(kGiB) == 40 * kMiB);
}

TEST_CASE("absurd sizes saturate instead of wrapping") {
  CHECK(bytes(matrix(UINT64_MAX / 2, UINT64_MAX / 2, Split::kNone, Place::kFirstStage),
              parallel(1, 1)) >= UINT64_MAX / 8);
}

namespace {

ModelShape gpt_oss(uint32_t experts) {
  ModelShape model;
  model.architecture = "GptOssForCausalLM";
  model.quantization = "mxfp4";
  model.num_layers = 1;
  Weight gate_up = matrix(2 * 2880, 2880, Split::kRows, Place::kFirstStage);
  gate_up.copies = experts;
  gate_up.parts = 2;
  gate_up.expert = true;
  gate_up.format = {.type = ElementType::kFloat4E2M1,
                    .fixed_type = true,
                    .bits = 4,
                    .group = 32,
                    .scale_bits = 8};
  Weight down = gate_up;
  down.rows = 2880;
  down.parts = 1;
  down.split = Split::kColumns;
  model.weights = {gate_up, down};
  return model;
}

// Elements and scales of gate, up and down.
uint64_t packed(uint64_t inner, uint64_t hidden, uint64_t experts) {
  return 3 * inner * hidden * experts * 17 / 32;
}

}  // namespace

TEST_CASE("MXFP4 experts take the tiles of the kernel that the card gets") {
  struct Case {
    const char* what;
    uint8_t capability;
    uint32_t release, tp;
    uint64_t wanted;
  };
  constexpr uint64_t kExperts = 32;
  // Scales twice: 2 x 2,880 and 2,880 rows in steps of 256, 90 to a row.
  const uint64_t rewritten = (5888 + 3072) * 90 * kExperts;
  const uint64_t stored = 3 * 2880 * 90 * kExperts;
  const std::vector<Case> cases = {
      {"Ampere: Marlin", 8, 1900, 1, packed(2944, 3072, kExperts)},
      {"Hopper before it had Triton kernels", 9, 1001, 1, packed(2944, 3072, kExperts)},
      {"a half of 1,440 in tiles of 128", 8, 1900, 2, packed(1536, 3072, kExperts)},
      {"Hopper keeps the scales as loaded", 9, 1900, 1, packed(2880, 2880, kExperts) + rewritten},
      {"… until 0.25", 9, 2500, 1, packed(2880, 2880, kExperts) + rewritten - stored},
      {"Blackwell: TRT-LLM", 10, 1900, 1, packed(3072, 3072, kExperts)},
      {"… with smaller tiles from 0.27", 10, 2700, 1, packed(2944, 3072, kExperts)},
      {"consumer Blackwell: Marlin", 12, 3200, 1, packed(2944, 3072, kExperts)},
  };
  const ModelShape model = gpt_oss(kExperts);
  for (const Case& c : cases) {
    INFO(c.what);
    EngineSettings settings = parallel(c.tp, 1);
    settings.release = {c.release};
    const GpuMemory gpu = {.total_bytes = 80 * kGiB, .capability_major = c.capability};
    const uint64_t found =
        rank_weight_bytes(model, settings, 0, expert_tiles(model, settings, gpu));
    // The allocator rounds two tensors up to 2 MiB.
    CHECK(found >= c.wanted);
    CHECK(found - c.wanted < 4 * kMiB);
  }
}

TEST_CASE("DeepStack's buffers of a batch are loaded with the model, unless it sees nothing") {
  ModelShape model;
  model.hidden_size = 1024;
  model.encoder.output_widths = 4;
  EngineSettings settings = parallel(2, 1);
  settings.max_num_batched_tokens = 8192;
  CHECK(rank_weight_bytes(model, settings, 0) == 3 * uint64_t{8192} * 1024 * 2);
  settings.vision_encoder = false;
  CHECK(rank_weight_bytes(model, settings, 0) == 0);
}

TEST_CASE("experts of other formats, and other models' MXFP4 on Hopper, are not Triton's") {
  ModelShape model = gpt_oss(8);
  EngineSettings settings = parallel(1, 1);
  settings.release = {1900};
  const GpuMemory hopper = {.total_bytes = 80 * kGiB, .capability_major = 9};
  model.architecture = "KimiK3ForConditionalGeneration";
  CHECK(expert_tiles(model, settings, hopper).inner == 128);
  model.quantization = "fp8";
  CHECK(expert_tiles(model, settings, hopper).inner == 1);
  CHECK(rank_weight_bytes(model, settings, 0, expert_tiles(model, settings, hopper)) ==
        rank_weight_bytes(model, settings, 0));
}
