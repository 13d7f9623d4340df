// Facts: vllm/distributed/utils.py get_pp_indices; block sizes that vLLM logs for hybrid models
// ("Setting attention block size to 544 tokens"), 0.19 to 0.33.
#include "lint/memory/layer_specs.h"

#include <fstream>

#include "lint/memory/bytes.h"
#include "lint/memory/draft.h"
#include "tests/memory/planning_cases.h"
#include "tests/support/catch.h"

namespace kvbudget::memory {
namespace {

LayerCache attention(uint32_t layer, uint32_t kv_heads, uint32_t head_dim) {
  LayerCache cache;
  cache.layer = layer;
  cache.kv_heads = kv_heads;
  cache.head_dim = head_dim;
  cache.value_head_dim = head_dim;
  return cache;
}

LayerCache recurrent(uint32_t layer, StateKind kind, std::vector<StateTensor> state) {
  LayerCache cache;
  cache.layer = layer;
  cache.kind = CacheKind::kMamba;
  cache.state_kind = kind;
  cache.state = std::move(state);
  return cache;
}

/// Qwen3-Next: three gated-delta layers to one of full attention.
ModelShape qwen3_next() {
  ModelShape model;
  model.num_layers = 48;
  for (uint32_t layer = 0; layer < 48; ++layer) {
    model.caches.push_back(layer % 4 == 3
                               ? attention(layer, 2, 256)
                               : recurrent(layer, StateKind::kGatedDelta,
                                           {{{3, 8192}, 1, ElementType::kBFloat16},
                                            {{32, 128, 128}, 0, ElementType::kBFloat16}}));
  }
  return model;
}

EngineSettings settings_of(uint32_t release, const char* mamba_mode) {
  EngineSettings settings;
  settings.release.number = release;
  settings.max_model_len = 262144;
  settings.max_num_batched_tokens = 8192;
  settings.mamba_cache_mode = mamba_mode;
  return settings;
}

// A decoder of two layers behind an encoder of three.
ModelShape whisper() {
  ModelShape model;
  model.num_layers = 3;
  model.encoder.item_tokens = 1500;
  for (uint32_t layer = 0; layer < 2; ++layer) {
    model.caches.push_back(attention(layer, 8, 64));
    model.caches.push_back(attention(layer, 8, 64));
    model.caches.back().kind = CacheKind::kCross;
  }
  return model;
}

TEST_CASE("cross attention holds an item up to 0.12 and a batch from 0.13 on") {
  CHECK(plan_input(whisper(), settings_of(1002, "none")).max_encoder_tokens == 1500);
  CHECK(plan_input(whisper(), settings_of(1200, "none")).max_encoder_tokens == 1500);
  CHECK(plan_input(whisper(), settings_of(1300, "none")).max_encoder_tokens == 8192);
  CHECK(plan_input(whisper(), settings_of(3200, "none")).layers.size() == 4);
}

TEST_CASE("the V0 engine gives each layer of the encoder a cache, which holds both kinds") {
  EngineSettings settings = settings_of(902, "none");
  settings.v0_engine = true;
  const PlanInput input = plan_input(whisper(), settings);
  REQUIRE(input.specs.size() == 1);
  CHECK(input.specs[0].kind == SpecKind::kFull);
  CHECK(input.layers.size() == 3);
}

TEST_CASE("what does not divide over pipeline stages goes to the stages before the last") {
  struct Row {
    uint32_t layers, stages, stage, first, end;
  };
  const Row rows[] = {{32, 1, 0, 0, 32},  {32, 3, 0, 0, 11}, {32, 3, 1, 11, 22},
                      {32, 3, 2, 22, 32}, {61, 2, 0, 0, 31}, {61, 2, 1, 31, 61},
                      {30, 4, 0, 0, 7},   {30, 4, 1, 7, 15}, {30, 4, 2, 15, 23},
                      {30, 4, 3, 23, 30}};
  for (const Row& row : rows) {
    const StageLayers range = stage_layers(row.layers, row.stages, row.stage);
    INFO(row.layers << " layers, stage " << row.stage << " of " << row.stages);
    CHECK(range.first == row.first);
    CHECK(range.end == row.end);
  }
}

TEST_CASE("a stated partition decides the layers of each pipeline stage") {
  ModelShape model;
  model.num_layers = 80;
  EngineSettings settings;
  settings.pipeline_parallel = 4;
  CHECK(stage_layers(model, settings, 3).count() == 20);
  settings.pipeline_layers = {20, 22, 21, 17};
  CHECK(stage_layers(model, settings, 0).first == 0);
  CHECK(stage_layers(model, settings, 1).first == 20);
  CHECK(stage_layers(model, settings, 2).end == 63);
  CHECK(stage_layers(model, settings, 3).count() == 17);
}

TEST_CASE("a rank keeps at least one KV head") {
  ModelShape model;
  EngineSettings settings = settings_of(3300, "none");
  const LayerCache cache = attention(0, 8, 128);
  const std::pair<uint32_t, uint32_t> rows[] = {{1, 8}, {2, 4}, {8, 1}, {16, 1}};
  for (const auto& [ranks, heads] : rows) {
    settings.tensor_parallel = ranks;
    CHECK(layer_spec(cache, model, settings).kv_heads == heads);
  }
}

TEST_CASE("values narrower than keys are stored as wide before 0.20") {
  ModelShape model;
  LayerCache cache = attention(0, 4, 192);
  cache.value_head_dim = 128;
  const std::pair<uint32_t, uint32_t> rows[] = {{1901, 192}, {2000, 128}, {3300, 128}};
  for (const auto& [release, width] : rows) {
    INFO(release);
    CHECK(layer_spec(cache, model, settings_of(release, "none")).value_head_dim == width);
  }
}

// Zamba2-2.7B at 0.32: the engine's states are 3x5248 and 80x64x64, at four ranks 3x1408 and
// 20x64x64.
TEST_CASE("ranks copy the groups of a recurrent state that they cannot divide") {
  ModelShape model;
  EngineSettings settings = settings_of(3200, "align");
  StateTensor window{{3, 5248}, 1, ElementType::kBFloat16};
  window.groups = 1;
  window.group_width = 128;
  const LayerCache cache =
      recurrent(0, StateKind::kMamba2, {window, {{80, 64, 64}, 0, ElementType::kBFloat16}});
  CHECK(layer_spec(cache, model, settings).state_bytes == 2 * (3 * 5248 + 80 * 64 * 64));
  settings.tensor_parallel = 4;
  CHECK(layer_spec(cache, model, settings).state_bytes == 2 * (3 * 1408 + 20 * 64 * 64));
}

TEST_CASE("a hybrid's attention block grows until its page holds a recurrent state") {
  struct Row {
    uint32_t release;
    const char* mode;
    uint32_t tensor_parallel;
    const char* kv_cache_dtype;
    uint32_t block_tokens;
  };
  const Row rows[] = {{1901, "none", 1, "auto", 544},  {2400, "none", 1, "auto", 544},
                      {3200, "align", 1, "auto", 544}, {3200, "align", 4, "auto", 272},
                      {3200, "align", 1, "fp8", 1072}, {3300, "align", 1, "auto", 576}};
  for (const Row& row : rows) {
    EngineSettings settings = settings_of(row.release, row.mode);
    settings.tensor_parallel = row.tensor_parallel;
    settings.kv_cache_dtype = row.kv_cache_dtype;
    const PlanInput input = plan_input(qwen3_next(), settings);
    INFO(row.release << " " << row.mode << " tp " << row.tensor_parallel);
    REQUIRE(input.specs.size() == 2);
    const PlanRules rules = rules_for(settings.release);
    CHECK(input.specs[1].block_tokens == row.block_tokens);
    CHECK(page_bytes(input.specs[0], rules) == page_bytes(input.specs[1], rules));
  }
}

TEST_CASE("the checkpoint's KV dtype counts as the version and its format say") {
  struct Row {
    uint32_t release;
    const char* quantization;
    const char* flag;
    KvDtype dtype;
  };
  const Row rows[] = {{1300, "modelopt", "auto", KvDtype::kAuto},
                      {1400, "modelopt", "auto", KvDtype::kFp8},
                      {1400, "compressed-tensors", "auto", KvDtype::kAuto},
                      {1500, "compressed-tensors", "auto", KvDtype::kFp8},
                      {1900, "modelopt", "bfloat16", KvDtype::kBFloat16},
                      {1900, "compressed-tensors", "bfloat16", KvDtype::kFp8},
                      {2200, "compressed-tensors", "bfloat16", KvDtype::kBFloat16},
                      {3300, "compressed-tensors", "auto", KvDtype::kFp8}};
  for (const Row& row : rows) {
    ModelShape model;
    model.kv_cache_scheme = "fp8";
    model.quantization = row.quantization;
    EngineSettings settings = settings_of(row.release, "none");
    settings.kv_cache_dtype = row.flag;
    INFO(row.release << " " << row.quantization << " " << row.flag);
    CHECK(resolved_kv_dtype(model, settings) == row.dtype);
  }
}

TEST_CASE("pipeline stages of real models are vLLM's", "[corpus]") {
  if (!test::shared_exists(planning_path("real-models.jsonl"))) return;
  std::ifstream file(planning_path("real-models.jsonl"));
  size_t compared = 0;
  for (std::string text; std::getline(file, text);) {
    const json line = json::parse(text);
    if (!line["ok"]) continue;
    const json& model = line["model_config"];
    for (const auto& [stages, ranges] : model["layers_by_pp"].items()) {
      for (uint32_t stage = 0; stage < ranges.size(); ++stage) {
        const StageLayers ours = stage_layers(model["total_num_hidden_layers"],
                                              static_cast<uint32_t>(std::stoul(stages)), stage);
        REQUIRE(ours.first == ranges[stage][0].get<uint32_t>());
        REQUIRE(ours.end == ranges[stage][1].get<uint32_t>());
        ++compared;
      }
    }
  }
  CHECK(compared > 5000);
}

TEST_CASE("states of bounded delta attention are kept for prefix caching from 0.29") {
  ModelShape model;
  model.caches.push_back(recurrent(
      0, StateKind::kFlashKda,
      {{{3, 36864}, 1, ElementType::kBFloat16}, {{96, 128, 128}, 0, ElementType::kFloat32}}));
  for (const uint32_t release : {2800u, 2900u, 3300u}) {
    const CacheSpec spec = layer_spec(model.caches[0], model, settings_of(release, "align"));
    CHECK(spec.checkpoint_blocks == (release >= 2900 ? 1u : 0u));
    CHECK(spec.state_bytes == 6512640);
  }
}

TEST_CASE("a draft of DeepSeek-V4 keeps the window alone") {
  ModelShape model;
  model.num_layers = 1;
  LayerCache window;
  window.kind = CacheKind::kSlidingMla;
  window.deepseek_v4 = true;
  window.kv_heads = 1;
  window.head_dim = 512;
  window.window_tokens = 128;
  window.block_tokens = 64;
  LayerCache state = window;
  state.stored_type = ElementType::kFloat32;
  LayerCache entries = window;
  entries.kind = CacheKind::kMla;
  entries.tokens_per_state = 4;
  entries.block_tokens = 0;
  model.caches = {window, entries, state};
  const EngineSettings settings = settings_of(3200, "none");
  DraftLayers draft;
  draft.caches = {window};
  const PlanInput input = plan_input(with_draft(model, draft, settings.release), settings);
  REQUIRE(input.layers.size() == 4);
  CHECK(input.layers[3] == input.layers[0]);
  CHECK(input.specs[input.layers[1]].block_tokens == 256);
  CHECK(page_bytes(input.specs[input.layers[1]], rules_for(settings.release)) == 37440);
  CHECK(input.blocks_outermost);
}

TEST_CASE("layers that keep the model's dtype hold it beside quantised ones") {
  ModelShape model;
  model.num_layers = 2;
  LayerCache full;
  full.kv_heads = 4;
  full.head_dim = full.value_head_dim = 64;
  LayerCache window = full;
  window.layer = 1;
  window.kind = CacheKind::kSliding;
  window.window_tokens = 1024;
  model.caches = {full, window};
  constexpr uint64_t kToken = 2 * 4 * 64;  // of one byte an element
  struct Case {
    uint32_t release;
    PlainCaches plain;
    uint32_t full_block, window_block;
    uint64_t full_page, window_page;
  };
  const Case cases[] = {
      {2002, {}, 16, 16, 16 * kToken, 16 * kToken},
      {2002, {{0}, false}, 16, 16, 32 * kToken, 16 * kToken},
      {2002, {{}, true}, 16, 16, 16 * kToken, 32 * kToken},
      // From 0.25 the quantised block grows until a plain one fits into its page.
      {3000, {{}, true}, 32, 16, 32 * kToken, 32 * kToken},
      {3000, {{0}, false}, 32, 32, 64 * kToken, 32 * kToken},
  };
  for (const Case& c : cases) {
    INFO(c.release << ", windows " << c.plain.windows);
    EngineSettings settings;
    settings.release = {c.release};
    settings.kv_cache_dtype = "fp8";
    settings.plain_caches = c.plain;
    const PlanInput input = plan_input(model, settings);
    REQUIRE(input.layers.size() == 2);
    const PlanRules rules = rules_for(settings.release);
    const CacheSpec& first = input.specs[input.layers[0]];
    const CacheSpec& second = input.specs[input.layers[1]];
    CHECK(first.block_tokens == c.full_block);
    CHECK(second.block_tokens == c.window_block);
    CHECK(page_bytes(first, rules) == c.full_page);
    CHECK(page_bytes(second, rules) == c.window_page);
  }
  EngineSettings plain;
  plain.release = {3000};
  plain.plain_caches = {{0}, true};
  EngineSettings same = plain;
  same.plain_caches = {};
  CHECK(plan_input(model, plain).specs == plan_input(model, same).specs);
}

}  // namespace
}  // namespace kvbudget::memory
