// The terms of a profile run, by the engine's own reasons. How near they come to logged runs is in
// tests/accuracy.

#include "lint/memory/activation.h"
#include "lint/memory/estimate.h"
#include "lint/memory/overheads.h"
#include "tests/support/catch.h"

using namespace kvbudget::memory;

namespace {

constexpr GpuMemory kHopper = {80 * kGiB, 9, 0};
constexpr GpuMemory kAda = {24 * kGiB, 8, 9};

ModelShape decoder() {
  ModelShape model;
  model.architecture = "LlamaForCausalLM";
  model.num_layers = 4;
  model.hidden_size = 1024;
  model.intermediate_size = 2048;
  model.num_heads = 8;
  model.vocab_size = 128'000;
  for (uint32_t i = 0; i < model.num_layers; ++i) {
    LayerCache layer;
    layer.layer = i;
    layer.kv_heads = 8;
    layer.head_dim = layer.value_head_dim = 128;
    model.caches.push_back(layer);
  }
  return model;
}

EngineSettings engine(uint32_t release) {
  EngineSettings settings;
  settings.release = {release};
  settings.max_model_len = 4096;
  settings.max_num_seqs = 1024;
  settings.max_num_batched_tokens = 8192;
  settings.cudagraph_sizes = 51;
  settings.max_cudagraph_size = 512;
  return settings;
}

uint64_t peak(const ModelShape& model, const EngineSettings& settings,
              const GpuMemory& gpu = kHopper) {
  return activation_peak(model, settings, gpu, 0, {}).best;
}

constexpr uint64_t kEntries = uint64_t{1024} * 128'000;
// Hidden states of the batch, and twice those that are sampled from.
constexpr uint64_t kHidden = (8192 + 2 * 1024) * uint64_t{1024} * 2;
constexpr uint64_t kScratch = (32 + 3) * kMiB;  // cuBLAS and metadata

}  // namespace

TEST_CASE("a sampling step sorts 38 bytes an entry up to 0.16 and holds 14 from 0.17") {
  CHECK(peak(decoder(), engine(1600)) == kEntries * 38 + kHidden + kScratch);
  const uint64_t rows = uint64_t{132} * 128'000 * 4;
  CHECK(peak(decoder(), engine(1700)) == kEntries * 14 + rows + kHidden + kScratch);
}

TEST_CASE("tensor parallelism divides the MLP of the forward pass, never the logits") {
  EngineSettings settings = engine(1900);
  const uint64_t alone = peak(decoder(), settings);
  settings.tensor_parallel = 4;
  CHECK(peak(decoder(), settings) == alone);

  ModelShape wide = decoder();
  wide.intermediate_size = 200'000;
  const uint64_t wider = peak(wide, settings);
  settings.tensor_parallel = 2;
  CHECK(peak(wide, settings) > wider * 3 / 2);
}

TEST_CASE("runner V2 leaves the sampler to a warm-up, and keeps counts for each sequence") {
  EngineSettings settings = engine(2500);
  settings.enforce_eager = true;
  CHECK(peak(decoder(), settings) < peak(decoder(), engine(2300)) / 2);
  CHECK(sampler_warm_up(decoder(), settings, kHopper).best > kEntries * 7);
  CHECK(sampler_state_bytes(decoder(), settings) == kEntries * 33 / 8);
  CHECK(sampler_state_bytes(decoder(), engine(1900)) == 0);
  // Beside every figure until 0.27, within non-torch memory since.
  const auto non_torch = [&](uint32_t release) {
    return non_torch_bytes(decoder(), engine(release), kHopper, {}).best;
  };
  CHECK(non_torch(2700) - non_torch(2600) == kEntries * 33 / 8);
}

TEST_CASE("the environment decides which runner profiles") {
  EngineSettings settings = engine(2600);
  CHECK(runner_of(decoder(), settings) == Runner::kV2);
  settings.model_runner_v2 = false;
  CHECK(runner_of(decoder(), settings) == Runner::kV1);
  settings.v0_engine = true;
  CHECK(runner_of(decoder(), settings) == Runner::kV0);
  ModelShape experts = decoder();
  experts.num_experts = 8;
  CHECK(runner_of(experts, engine(2600)) == Runner::kV1);
  CHECK(runner_of(experts, engine(2900)) == Runner::kV2);
}

TEST_CASE("a cold compile may hold a second embedding table, unless it is outside the graph") {
  ModelShape model = decoder();
  model.hidden_size = 8192;
  EngineSettings settings = engine(2800);
  const uint64_t table = uint64_t{128'000} * 8192 * 2;
  CHECK(peak(model, settings) >= table);
  CHECK(activation_peak(model, settings, kHopper, 0, {}).low < table);
  settings.enforce_eager = true;
  CHECK(peak(model, settings) < table);
  settings.enforce_eager = false;
  model.multimodal = true;
  CHECK(peak(model, settings) < table);
}

TEST_CASE("expert workspaces stay from 0.13 and share the forward pass's moment before") {
  ModelShape model = decoder();
  model.num_experts = 16;
  model.experts_per_token = 2;
  model.moe_intermediate_size = 2048;
  const uint64_t workspace = uint64_t{8192} * 2 * (4096 + 2048) * 2;
  CHECK(peak(model, engine(1300)) - peak(decoder(), engine(1300)) == workspace);
  CHECK(peak(model, engine(1200)) == peak(decoder(), engine(1200)));
}

TEST_CASE("images of the profile run stay beside their embeddings, as many as the batch holds") {
  ModelShape model = decoder();
  model.multimodal = true;
  const uint64_t without = peak(model, engine(1900));
  model.encoder = {256, 1'000'000, 0};
  CHECK(peak(model, engine(1900)) - without ==
        (8192 / 256) * (uint64_t{256} * 1024 + 1'000'000) * 2);
  model.encoder.item_tokens = 100'000;  // one at least
  CHECK(peak(model, engine(1900)) - without == (uint64_t{100'000} * 1024 + 1'000'000) * 2);
  model.encoder.item_peak = uint64_t{1} << 33;  // the encoder itself is the peak
  CHECK(peak(model, engine(1900)) > (uint64_t{1} << 34));
}

namespace {

// Of 16,384 tokens and twelve million pixels, as in the Qwen-VL families.
ModelShape seeing() {
  ModelShape model = decoder();
  model.multimodal = true;
  model.vision_inputs = "image,video";
  model.encoder = {.item_tokens = 16'384,
                   .item_inputs = 1'000'000,
                   .item_peak = uint64_t{1} << 33,
                   .item_pixels = 12'845'056,
                   .videos_fill_context = true};
  return model;
}

// The encoder's share of the peak, which it is, in images.
uint64_t images(const EngineSettings& settings) {
  const ModelShape model = seeing();
  const uint64_t tower = peak(model, settings) - cublas_workspace_bytes(kHopper);
  return tower / (model.encoder.item_inputs + model.encoder.item_peak) / 2;
}

}  // namespace

TEST_CASE("a video of the profile run has as many frames as the context holds, up to 14 or 16") {
  EngineSettings settings = engine(1900);
  settings.max_model_len = 32'767;
  CHECK(images(settings) == 1);
  settings.max_model_len = 32'768;
  CHECK(images(settings) == 2);
  settings.max_model_len = 128'000;
  CHECK(images(settings) == 7);
  CHECK(largest_item(seeing(), settings).tokens == 7 * 16'384);
  CHECK(largest_item(seeing(), settings).is_video);
  settings.release = {901};
  settings.max_model_len = 150'000;
  CHECK(images(settings) == 8);
  settings.max_model_len = 32'768;  // an image first
  CHECK(images(settings) == 1);
}

TEST_CASE("limits of items and pixels are limits of the profile run") {
  EngineSettings settings = engine(1900);
  settings.max_model_len = 128'000;
  settings.videos_per_prompt = 0;
  CHECK(images(settings) == 1);
  CHECK(largest_item(seeing(), settings).tokens == 16'384);
  settings.max_image_pixels = 12'845'056 / 4;
  CHECK(largest_item(seeing(), settings).tokens == 4096);
  settings.images_per_prompt = 0;
  CHECK(largest_item(seeing(), settings).tokens == 0);
  CHECK(peak(seeing(), settings) == peak(decoder(), settings));
}

TEST_CASE("embeddings are as wide as DeepStack makes them, and had room for a video") {
  EngineSettings settings = engine(1300);
  ModelShape model = seeing();
  model.encoder.item_peak = 0;
  model.encoder.videos_fill_context = false;
  const uint64_t plain = peak(model, settings);
  const uint64_t embedding = uint64_t{1024} * 2;
  model.encoder.output_widths = 4;
  CHECK(peak(model, settings) - plain == 3 * 16'384 * embedding);
  model.encoder.video_room = 153'600;
  CHECK(peak(model, settings) - plain == 3 * 16'384 * embedding);
  settings.release = {1200};
  CHECK(peak(model, settings) - plain == (4 * uint64_t{153'600} - 16'384) * embedding);
}

TEST_CASE("runner V2 profiles no encoders before 0.27") {
  EngineSettings settings = engine(2600);
  settings.model_runner_v2 = true;
  settings.enforce_eager = true;
  CHECK(peak(seeing(), settings) == peak(decoder(), settings));
  settings.release = {2700};
  CHECK(images(settings) == 1);
}

TEST_CASE("the V0 engine profiles as few sequences as hold all items of a prompt") {
  EngineSettings settings = engine(804);
  settings.v0_engine = true;
  settings.max_model_len = 8192;
  ModelShape model = seeing();
  model.encoder.item_peak = 0;
  // An image and a video of one pair, both in one sequence of 32,768 tokens.
  const uint64_t hidden = uint64_t{32'768} * 1024 * 2;
  const uint64_t mlp = uint64_t{32'768} * 3 * 2048 * 2;
  // Pixels come in float32 before 0.9.1.
  const uint64_t items = 2 * (1'000'000 * 4 + uint64_t{16'384} * 1024 * 2);
  CHECK(peak(model, settings) ==
        mlp + static_cast<uint64_t>(static_cast<double>(hidden) * 3.7) + items + kScratch);
  // Small images: 64 sequences are sampled instead of 1,024.
  model.encoder = {.item_tokens = 128};
  model.vision_inputs = "image";
  settings.max_num_batched_tokens = 64 * 128;
  EngineSettings fewer = settings;
  fewer.max_num_seqs = 64;
  CHECK(peak(model, settings) == peak(model, fewer));
}

TEST_CASE("graphs of decoding steps hold FlashAttention 3's parts, on Hopper") {
  const auto pool = [](const ModelShape& model, const EngineSettings& settings,
                       const GpuMemory& gpu) {
    return cuda_graph_bytes(model, settings, gpu, {}).best;
  };
  // 32 parts of 512 tokens, 8 heads, 128 values and a sum.
  const uint64_t parts = uint64_t{32} * 512 * 8 * 129 * 4;
  const auto differs = [&](const EngineSettings& settings) {
    return pool(decoder(), settings, kHopper) - pool(decoder(), settings, kAda);
  };
  EngineSettings settings = engine(1900);
  CHECK(differs(settings) / 1024 == parts / 1024);
  settings.tensor_parallel = 4;
  CHECK(differs(settings) / 1024 == parts / 4 / 1024);
  settings = engine(1900);
  settings.max_num_seqs = 128;
  CHECK(differs(settings) / 1024 == parts / 4 / 1024);
  settings.dtype = ElementType::kFloat32;
  CHECK(differs(settings) == 0);
  settings = engine(1002);
  CHECK(differs(settings) == 0);
  ModelShape latents = decoder();
  latents.rotary_dim = 64;
  for (LayerCache& layer : latents.caches) {
    layer.kind = CacheKind::kMla;
    layer.head_dim = 576;
    layer.value_head_dim = 0;
  }
  const uint64_t wide = uint64_t{32} * 512 * 8 * 513 * 4;
  CHECK((pool(latents, engine(1900), kHopper) - pool(latents, engine(1900), kAda)) / 1024 ==
        wide / 1024);
}

TEST_CASE("a release that nobody stated spans those that differ") {
  EngineSettings settings = engine(3300);
  const Interval stated = activation_peak(decoder(), settings, kHopper, 0, {});
  settings.release_assumed = true;
  const Interval assumed = activation_peak(decoder(), settings, kHopper, 0, {});
  CHECK(assumed.best == stated.best);
  CHECK(assumed.high > kEntries * 14);
  CHECK(assumed.low <= stated.low);
}

TEST_CASE("readings of a card's memory widen what is left") {
  GpuMemory card = kAda;
  const SignedInterval exact = estimate(decoder(), engine(1900), card).available;
  card.low_bytes = 23 * kGiB;
  card.high_bytes = 25 * kGiB;
  const SignedInterval ranged = estimate(decoder(), engine(1900), card).available;
  CHECK(ranged.best == exact.best);
  CHECK(ranged.low < exact.low);
  CHECK(ranged.high > exact.high);
}

TEST_CASE("the start check wants the budget to be free from 0.9.1 on") {
  EngineSettings settings = engine(1900);
  settings.max_num_seqs = 16;
  settings.gpu_memory_utilization = 0.998;
  const Estimate e = estimate(decoder(), settings, kAda);
  CHECK(e.obstacle == Obstacle::kBudgetExceedsFree);
  CHECK(e.verdict == Verdict::kRefuses);
  settings.release = {900};
  CHECK(estimate(decoder(), settings, kAda).obstacle != Obstacle::kBudgetExceedsFree);
}

TEST_CASE("graphs that find nothing beside the budget run out of memory") {
  EngineSettings settings = engine(1900);
  settings.max_num_seqs = 16;
  settings.gpu_memory_utilization = 0.985;
  ModelShape deep = decoder();
  deep.num_layers = 400;  // graphs grow with layers
  const Estimate e = estimate(deep, settings, kAda);
  CHECK(is_beside_budget(e.obstacle));
  CHECK(e.verdict == Verdict::kOutOfMemory);
  settings.enforce_eager = true;
  CHECK(estimate(deep, settings, kAda).verdict != Verdict::kOutOfMemory);
}

TEST_CASE("recurrent state needs a block per sequence with whole graphs from 0.20") {
  ModelShape model = decoder();
  LayerCache state;
  state.kind = CacheKind::kMamba;
  state.state = {{{3, 1024}, 1}, {{64, 128, 128}, 0}};
  for (size_t i = 1; i < model.caches.size(); ++i) {
    state.layer = model.caches[i].layer;
    model.caches[i] = state;
  }
  EngineSettings settings = engine(2000);
  settings.kv_cache_memory_bytes = 2 * kGiB;
  const Estimate e = estimate(model, settings, kHopper);
  CHECK(e.obstacle == Obstacle::kStateBlocksTooFew);
  CHECK(e.verdict == Verdict::kRefuses);
  settings.full_cudagraphs = false;
  CHECK(estimate(model, settings, kHopper).verdict == Verdict::kStarts);
  settings.full_cudagraphs = true;
  settings.max_num_seqs = 8;
  CHECK(estimate(model, settings, kHopper).verdict == Verdict::kStarts);
}

TEST_CASE("aligned blocks have to fit one step from 0.17 to 0.26") {
  ModelShape model = decoder();
  LayerCache& state = model.caches.back();
  state.kind = CacheKind::kMamba;
  state.state = {{{64, 128, 128}, 0}};
  EngineSettings settings = engine(2600);
  settings.mamba_cache_mode = "align";
  settings.max_num_seqs = 8;
  const uint32_t block = estimate(model, settings, kHopper).attention_block_tokens();
  REQUIRE(block > 16);
  settings.max_num_batched_tokens = block;
  CHECK(estimate(model, settings, kHopper).obstacle == Obstacle::kNone);
  settings.max_num_batched_tokens = block - 1;
  CHECK(estimate(model, settings, kHopper).obstacle == Obstacle::kBlockExceedsBatch);
  settings.release = {2700};
  CHECK(estimate(model, settings, kHopper).obstacle == Obstacle::kNone);
  settings.release = {2600};
  settings.prefix_caching = false;
  CHECK(estimate(model, settings, kHopper).obstacle == Obstacle::kNone);
}

TEST_CASE("the old engine keeps every token of sliding layers") {
  ModelShape model = decoder();
  for (LayerCache& layer : model.caches) {
    layer.kind = CacheKind::kSliding;
    layer.window_tokens = 512;
  }
  model.caches.front().kind = CacheKind::kFull;
  EngineSettings settings = engine(1900);
  settings.max_num_batched_tokens = 1024;
  const uint64_t hybrid = estimate(model, settings, kHopper).needed_bytes;
  settings.release = {800};
  settings.v0_engine = true;
  const uint64_t all = estimate(model, settings, kHopper).needed_bytes;
  CHECK(all == uint64_t{4096} * 4 * 2 * 8 * 128 * 2);
  CHECK(hybrid < all);
}
