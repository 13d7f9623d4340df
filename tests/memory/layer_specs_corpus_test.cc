// Real architectures again, from the layers of the model instead of vLLM's specs: block sizes,
// padding, dtypes and heads are ours here, the plans must still be vLLM's.
//
// Source: as plan_real_models_test.cc.
#include <algorithm>
#include <cstdio>
#include <fstream>

#include "lint/memory/layer_specs.h"
#include "tests/memory/planning_cases.h"
#include "tests/support/catch.h"

namespace kvbudget::memory {
namespace {

/// DeepSeek-V4's layers are told from other latent ones by their aligned pages.
void describe_compressed(const json& spec, LayerCache& cache) {
  cache.deepseek_v4 = true;
  cache.tokens_per_state = spec.value("compress_ratio", spec.value("tokens_per_state", 1u));
  if (spec["kind"] == "sliding_mla") cache.block_tokens = spec["block_size"];
  if (spec["dtype"] == "float32") cache.stored_type = ElementType::kFloat32;
}

/// False for layers that LayerCache does not describe.
bool describe(const json& spec, const json& model, LayerCache& cache) {
  const std::string kind = spec["kind"];
  if (kind == "mamba") {
    cache.kind = CacheKind::kMamba;
    const std::string backend = spec["backend"];
    cache.state_kind = backend == "MAMBA2_ATTN"   ? StateKind::kMamba2
                       : backend == "GDN_ATTN"    ? StateKind::kGatedDelta
                       : backend == "KIMI_K3_KDA" ? StateKind::kFlashKda
                       : backend == "LINEAR_ATTN" ? StateKind::kLinear
                                                  : StateKind::kShortConv;
    for (size_t i = 0; i < spec["shapes"].size(); ++i) {
      const bool wide = spec["dtypes"][i] == "float32";
      cache.state.push_back({spec["shapes"][i].get<std::vector<uint64_t>>(), UINT32_MAX,
                             wide ? ElementType::kFloat32 : ElementType::kBFloat16});
    }
    return true;
  }
  cache.kind = kind == "sliding"       ? CacheKind::kSliding
               : kind == "chunked"     ? CacheKind::kChunked
               : kind == "mla"         ? CacheKind::kMla
               : kind == "sliding_mla" ? CacheKind::kSlidingMla
               : kind == "cross"       ? CacheKind::kCross
                                       : CacheKind::kFull;
  cache.kv_heads = spec["num_kv_heads"];
  cache.head_dim = spec["head_size"];
  cache.value_head_dim = spec.value("head_size_v", cache.head_dim);
  cache.window_tokens = spec.value("sliding_window", spec.value("attention_chunk_size", 0u));
  const bool quantised = spec["dtype"] == "uint8";
  const bool indexer = kind == "mla" && quantised && !spec.contains("cache_dtype_str");
  if (indexer) cache.stored_type = ElementType::kUInt8;
  if (spec.contains("alignment")) {
    describe_compressed(spec, cache);
    return true;
  }
  return indexer || spec["dtype"] == model["dtype"] || quantised;
}

/// The one model and rank count whose FP8 kernels 0.32 gives to its fallback, with other blocks.
bool has_fallback_backend(const json& line) {
  const json& backends = line["attention_backends"];
  return line["engine_version"] == "0.32.0" &&
         std::find(backends.begin(), backends.end(), "TRITON_MLA") != backends.end();
}

bool read_shape(const json& line, ModelShape& model) {
  std::vector<LayerCache> kinds;
  for (const json& spec : line["layers"]["specs"]) {
    if (!describe(spec, line["model_config"], kinds.emplace_back())) return false;
  }
  for (const json& run : line["layers"]["runs"]) {
    for (uint32_t i = 0; i < run[1].get<uint32_t>(); ++i) {
      model.caches.push_back(kinds[run[0].get<size_t>()]);
      model.caches.back().layer = model.num_layers++;
    }
  }
  return true;
}

EngineSettings read_settings(const json& line) {
  EngineSettings settings;
  settings.release.number = release_number(line["engine_version"]);
  settings.max_model_len = line["model_config"]["max_model_len"];
  settings.max_num_batched_tokens = line["scheduler_config"]["max_num_batched_tokens"];
  settings.async_scheduling = line["scheduler_config"]["async_scheduling"];
  settings.hybrid_kv_cache_manager = line["scheduler_config"]["hybrid_kv_cache_manager"];
  settings.mamba_cache_mode = line["cache_config"]["mamba_cache_mode"];
  settings.kv_cache_dtype = line["cache_config"]["cache_dtype"];
  if (line["model_config"]["dtype"] == "float16") settings.dtype = ElementType::kFloat16;
  if (line["model_config"]["dtype"] == "float32") settings.dtype = ElementType::kFloat32;
  return settings;
}

std::string compare(const Planner& planner, const json& plans) {
  Differences differences;
  for (const json& theirs : plans) {
    const Plan plan = planner.plan(theirs["available_memory_bytes"].get<std::vector<int64_t>>());
    differences.compare("ok", plan.ok(), theirs["ok"]);
    if (!theirs["ok"]) {
      differences.compare("length", plan.estimated_max_len, theirs["estimated_max_len"]);
      continue;
    }
    differences.compare("num_blocks", plan.num_blocks, theirs["num_blocks"]);
    differences.compare("max_concurrency", plan.max_concurrency, theirs["max_concurrency"]);
  }
  return differences.text();
}

TEST_CASE("specs made from a model's layers plan as vLLM's own", "[corpus]") {
  if (!test::shared_exists(planning_path("real-models.jsonl"))) return;
  std::ifstream file(planning_path("real-models.jsonl"));
  size_t models = 0;
  size_t matched = 0;
  for (std::string text; std::getline(file, text);) {
    const json line = json::parse(text);
    if (!line["ok"] || !line.contains("groups") || line["pp"] != 1) continue;
    ModelShape model;
    if (has_fallback_backend(line) || !read_shape(line, model)) continue;
    PlanInput input = plan_input(model, read_settings(line));
    input.max_encoder_tokens = line["scheduler_config"]["max_num_encoder_input_tokens"];
    const std::string differences = compare(Planner(input), line["plans"]);
    ++models;
    matched += differences.empty();
    if (differences.empty()) continue;
    std::printf("%s %s tp%d %s: %.200s\n", line["engine_version"].get<std::string>().c_str(),
                line["model"].get<std::string>().c_str(), line["tp"].get<int>(),
                line["kv_dtype"].get<std::string>().c_str(), differences.c_str());
  }
  std::printf("models from their layers: %zu, %zu matched\n", models, matched);
  CHECK(models > 450);
  CHECK(matched == models);
}

std::string compare_specs(const CacheSpec& ours, const CacheSpec& theirs, const PlanRules& rules) {
  Differences differences;
  differences.compare("kind", spec_kind_name(ours.kind), spec_kind_name(theirs.kind));
  differences.compare("block", ours.block_tokens, theirs.block_tokens);
  differences.compare("page", page_bytes(ours, rules), page_bytes(theirs, rules));
  differences.compare("unpadded", unpadded_page_bytes(ours, rules),
                      unpadded_page_bytes(theirs, rules));
  differences.compare("alignment", ours.page_alignment, theirs.page_alignment);
  differences.compare("per state", ours.tokens_per_state, theirs.tokens_per_state);
  differences.compare("window", ours.window_tokens, theirs.window_tokens);
  differences.compare("dtype", kv_dtype_name(ours.mla_dtype), kv_dtype_name(theirs.mla_dtype));
  return differences.text();
}

TEST_CASE("compressed layers have the engine's pages in every release that knows them",
          "[corpus]") {
  if (!test::shared_exists(planning_path(""))) return;
  size_t compared = 0;
  for (const std::string version :
       {"0.20.2", "0.22.1", "0.24.0", "0.26.0", "0.28.0", "0.30.0", "0.32.0", "0.33.0"}) {
    std::ifstream file(planning_path((version + ".jsonl").c_str()));
    for (std::string text; std::getline(file, text);) {
      const json line = json::parse(text);
      if (line["id"].get<std::string>().rfind("dsv4", 0) != 0) continue;
      ModelShape model;
      for (const json& spec : line["input"]["specs"]) {
        REQUIRE(describe(spec, {{"dtype", "bfloat16"}}, model.caches.emplace_back()));
      }
      EngineSettings settings;
      settings.release.number = release_number(version);
      StateIds states;
      for (size_t i = 0; i < model.caches.size(); ++i) {
        const CacheSpec theirs = read_planning_spec(line["input"]["specs"][i], states);
        const CacheSpec ours = layer_spec(model.caches[i], model, settings);
        INFO(version << " " << line["id"] << " spec " << i);
        CHECK(compare_specs(ours, theirs, rules_for(settings.release)) == "");
        ++compared;
      }
    }
  }
  CHECK(compared > 20);
}

}  // namespace
}  // namespace kvbudget::memory
