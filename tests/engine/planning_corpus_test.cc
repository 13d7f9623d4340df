// The defaults against what released versions of vLLM decided for real models on an H100 (79 GiB):
// public model configs run through the engine's own configuration code, one JSON line each.
#include <fstream>
#include <map>
#include <nlohmann/json.hpp>

#include "lint/engine/resolve.h"
#include "tests/engine/engine_fixture.h"
#include "tests/support/shared.h"

using namespace kvbudget;
using namespace kvbudget::testing;

namespace {

using Json = nlohmann::json;

memory::CacheKind kind_of(const std::string& name) {
  static const std::map<std::string, memory::CacheKind> kinds = {
      {"sliding", memory::CacheKind::kSliding}, {"sliding_mla", memory::CacheKind::kMla},
      {"chunked", memory::CacheKind::kChunked}, {"mla", memory::CacheKind::kMla},
      {"cross", memory::CacheKind::kCross},     {"mamba", memory::CacheKind::kMamba},
  };
  const auto found = kinds.find(name);
  return found == kinds.end() ? memory::CacheKind::kFull : found->second;
}

memory::ModelShape shape_of(const Json& line) {
  memory::ModelShape model;
  model.architecture = line["arch"];
  if (line["model_config"]["dtype"] == "float16") model.dtype = memory::ElementType::kFloat16;
  if (line["model_config"]["dtype"] == "float32") model.dtype = memory::ElementType::kFloat32;
  for (const Json& spec : line["layers"]["specs"]) {
    memory::LayerCache cache;
    cache.kind = kind_of(spec["kind"]);
    model.caches.push_back(cache);
  }
  // The checkpoint's scheme shows in what auto became.
  const std::string cache_dtype = line["cache_config"]["cache_dtype"];
  if (line["kv_dtype"] == "auto" && cache_dtype != "auto") model.kv_cache_scheme = cache_dtype;
  return model;
}

}  // namespace

TEST_CASE("real models get the defaults that the engine gave them", "[corpus]") {
  const auto path = test::shared_path("groundtruth/vllm-planning/real-models.jsonl");
  if (!test::shared_exists(path)) return;
  std::ifstream file(path);
  Gpu gpu;
  gpu.device_name = "NVIDIA H100 80GB HBM3";
  gpu.vendor = "nvidia";
  gpu.capability = {9, 0};
  gpu.memory_bytes = uint64_t{79} << 30U;
  size_t checked = 0;
  for (std::string text; std::getline(file, text);) {
    const Json line = Json::parse(text);
    if (!line["ok"]) continue;
    const std::string version_text = line["engine_version"];
    const Version version = parse_version(version_text).value();
    const memory::ModelShape model = shape_of(line);
    const std::string words = "M --kv-cache-dtype " + line["kv_dtype"].get<std::string>() +
                              " -tp " + std::to_string(line["tp"].get<int>()) + " -pp " +
                              std::to_string(line["pp"].get<int>());
    const Settings settings = read_settings(start_of(words), version, nullptr);
    const ResolveResult result = resolve(
        {settings, version, &gpu, &model, line["model_config"]["max_model_len"].get<uint64_t>()});
    INFO(line["model"] << " " << version_text << " " << words);
    const Json& scheduler = line["scheduler_config"];
    const Json& cache = line["cache_config"];
    CHECK(result.engine.max_num_seqs == scheduler["max_num_seqs"]);
    CHECK(result.engine.max_num_batched_tokens == scheduler["max_num_batched_tokens"]);
    CHECK(result.engine.async_scheduling == scheduler["async_scheduling"]);
    CHECK(result.chunked_prefill == scheduler["enable_chunked_prefill"]);
    CHECK(result.engine.hybrid_kv_cache_manager == scheduler["hybrid_kv_cache_manager"]);
    CHECK(result.engine.prefix_caching == cache["enable_prefix_caching"]);
    CHECK(result.engine.mamba_cache_mode == cache["mamba_cache_mode"]);
    // Hybrids raise the block size to fit their states; lint/memory does that. Triton for MLA is a
    // choice by the number of heads on a rank, which the defaults do not follow.
    const bool triton_mla = line["attention_backends"].front() == "TRITON_MLA";
    if (!line["model_config"]["is_hybrid"] && !triton_mla) {
      CHECK(result.engine.block_tokens == cache["block_size"]);
    }
    ++checked;
  }
  CHECK(checked > 500);
}
