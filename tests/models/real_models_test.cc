#include <iostream>
#include <set>

#include "lint/memory/bytes.h"
#include "lint/memory/weights.h"
#include "lint/models/context.h"
#include "tests/models/corpus.h"

using namespace kvbudget;
using nlohmann::json;

namespace {

Version version_of(const std::string& text) { return *parse_version(text); }

// The engine's layer specs, expanded to one per layer with a cache.
std::vector<const json*> specs_of(const json& line) {
  std::vector<const json*> result;
  for (const json& run : line["layers"]["runs"]) {
    const json& spec = line["layers"]["specs"][run[0].get<size_t>()];
    result.insert(result.end(), run[1].get<size_t>(), &spec);
  }
  return result;
}

const char* kind_name(memory::CacheKind kind) {
  switch (kind) {
    case memory::CacheKind::kFull:
      return "full";
    case memory::CacheKind::kSliding:
      return "sliding";
    case memory::CacheKind::kChunked:
      return "chunked";
    case memory::CacheKind::kMla:
      return "mla";
    case memory::CacheKind::kSlidingMla:
      return "sliding_mla";
    case memory::CacheKind::kCross:
      return "cross";
    case memory::CacheKind::kMamba:
      return "mamba";
  }
  return "";
}

// What differs between a layer's cache and the engine's spec; empty when nothing does.
std::string difference(const memory::LayerCache& cache, const json& spec, bool before_0_20) {
  const std::string kind = spec["kind"];
  if (kind != kind_name(cache.kind)) return "kind " + kind;
  if (kind == "mamba") {
    for (size_t i = 0; i < spec["shapes"].size(); ++i) {
      if (i >= cache.state.size() || spec["shapes"][i] != json(cache.state[i].shape)) {
        return "state shape " + spec["shapes"].dump();
      }
      if (spec["dtypes"][i] != std::string(layout::name(cache.state[i].type))) {
        return "state type " + spec["dtypes"].dump();
      }
    }
    return spec["shapes"].size() == cache.state.size() ? "" : "number of state tensors";
  }
  if (spec["num_kv_heads"] != cache.kv_heads) return "kv heads " + spec["num_kv_heads"].dump();
  if (spec["head_size"] != cache.head_dim) return "head size " + spec["head_size"].dump();
  // 0.19 has no value size for MLA, and stores other values as wide as keys (layer_specs.cc).
  const uint32_t value_dim = before_0_20 ? cache.head_dim : cache.value_head_dim;
  if (kind != "mla" && spec.contains("head_size_v") && spec["head_size_v"] != value_dim) {
    return "value head size " + spec["head_size_v"].dump();
  }
  if (spec.value("tokens_per_state", 1u) != cache.tokens_per_state) return "tokens per state";
  if (kind == "sliding_mla" &&
      (spec["sliding_window"] != cache.window_tokens || spec["block_size"] != cache.block_tokens)) {
    return "window " + spec["sliding_window"].dump();
  }
  if (cache.stored_type && spec["dtype"] != std::string(layout::name(*cache.stored_type))) {
    return "dtype " + spec["dtype"].dump();
  }
  // Cohere2 windows are one token longer in newer releases.
  if (kind == "sliding" && spec["sliding_window"] != cache.window_tokens &&
      spec["sliding_window"] != cache.window_tokens + 1) {
    return "window " + spec["sliding_window"].dump();
  }
  if (kind == "chunked" && spec["attention_chunk_size"] != cache.window_tokens) return "chunk";
  return "";
}

std::string cache_difference(const memory::ModelShape& shape, const json& line) {
  const std::vector<const json*> specs = specs_of(line);
  if (specs.size() != shape.caches.size()) {
    return std::to_string(specs.size()) + " caches, found " + std::to_string(shape.caches.size());
  }
  const bool before_0_20 = version_of(line["engine_version"]) < Version{0, 20, 0};
  for (size_t i = 0; i < specs.size(); ++i) {
    const std::string what = difference(shape.caches[i], *specs[i], before_0_20);
    if (!what.empty()) return "cache " + std::to_string(i) + ": " + what;
  }
  return "";
}

std::string model_difference(const memory::ModelShape& shape, const json& line) {
  const json& config = line["model_config"];
  const auto check = [](const char* what, const json& theirs, uint64_t ours) {
    return theirs == ours
               ? std::string()
               : std::string(what) + " " + theirs.dump() + ", found " + std::to_string(ours) + "; ";
  };
  std::string text = check("layers", config["total_num_hidden_layers"], shape.num_layers) +
                     check("hidden", config["hidden_size"], shape.hidden_size) +
                     check("vocabulary", config["vocab_size"], shape.vocab_size);
  const ContextLimit limit = context_limit(shape, version_of(line["engine_version"]), false);
  text += check("length", config["max_model_len"], limit.default_tokens);
  if (config["dtype"] != std::string(layout::name(shape.dtype))) {
    text += "dtype " + config["dtype"].dump() + "; ";
  }
  return text;
}

}  // namespace

TEST_CASE("shapes agree with what the engine derives from the same configs", "[corpus]") {
  const std::filesystem::path shared = test::shared_path("");
  if (!test::shared_exists(shared / "corpus")) return;
  size_t agree = 0;
  std::set<std::string> refused;
  for (const json& line :
       test::read_lines(shared / "groundtruth" / "vllm-planning" / "real-models.jsonl")) {
    if (!line["ok"] || line["tp"] != 1 || line["pp"] != 1 || line["kv_dtype"] != "auto") continue;
    if (line.contains("fallbacks") && !line["fallbacks"].empty()) continue;
    std::string file = line["model"];
    file.replace(file.find('/'), 1, "__");
    const ShapeResult result =
        read_shape(test::corpus_files(shared / "corpus" / "models" / (file + ".json")));
    const std::string name =
        line["model"].get<std::string>() + " " + line["engine_version"].get<std::string>();
    if (result.shape == nullptr) {
      refused.insert(line["model"].get<std::string>() + ": " + result.error);
      continue;
    }
    INFO(name);
    const std::string of_model = model_difference(*result.shape, line);
    const std::string of_caches =
        line["layers"]["runs"].empty() ? "" : cache_difference(*result.shape, line);
    CHECK(of_model == "");
    CHECK(of_caches == "");
    agree += of_model.empty() && of_caches.empty();
  }
  for (const std::string& text : refused) std::cout << "  refused " << text << "\n";
  std::cout << "  " << agree << " agree, " << refused.size() << " models refused\n";
  CHECK(agree > 100);
}

TEST_CASE("every config of the corpus gives a shape or a reason", "[corpus]") {
  const std::filesystem::path shared = test::shared_path("");
  if (!test::shared_exists(shared / "corpus")) return;
  size_t shapes = 0;
  size_t files = 0;
  for (const auto& entry : std::filesystem::directory_iterator(shared / "corpus" / "models")) {
    if (entry.path().extension() != ".json") continue;
    const ShapeResult result = read_shape(test::corpus_files(entry.path()));
    INFO(entry.path());
    CHECK((result.shape != nullptr) == result.error.empty());
    if (result.shape != nullptr) CHECK(result.shape->num_layers > 0);
    shapes += result.shape != nullptr;
    ++files;
  }
  std::cout << "  " << shapes << " shapes of " << files << " configs\n";
  CHECK(files > 300);
}

TEST_CASE("the built-in catalogue agrees with the configs that it was taken from", "[corpus]") {
  const std::filesystem::path shared = test::shared_path("");
  if (!test::shared_exists(shared / "corpus")) return;
  size_t compared = 0;
  for (const std::string& id : catalogue_ids()) {
    const size_t slash = id.find('/');
    if (slash == std::string::npos) continue;
    std::string file = id;
    const ModelFiles original =
        test::corpus_files(shared / "corpus" / "models" / (file.replace(slash, 1, "__") + ".json"));
    const auto theirs = read_shape(original).shape;
    if (theirs == nullptr) continue;
    INFO(id);
    const auto ours = read_shape(*find_model({}, id, "").files).shape;
    REQUIRE(ours != nullptr);
    memory::EngineSettings settings;
    settings.tensor_parallel = 2;
    const auto bytes = [&](const memory::ModelShape& shape) {
      return memory::gib(memory::rank_weight_bytes(shape, settings, 0));
    };
    CHECK(bytes(*ours) == Approx(bytes(*theirs)).epsilon(0.001));
    CHECK(ours->quantization == theirs->quantization);
    CHECK(ours->kv_cache_scheme == theirs->kv_cache_scheme);
    CHECK(ours->caches.size() == theirs->caches.size());
    if (id == "meta-llama/Llama-2-70b-hf") continue;  // an early revision stated 2048 tokens
    CHECK(context_limit(*ours, Version{0, 32, 0}, false).default_tokens ==
          context_limit(*theirs, Version{0, 32, 0}, false).default_tokens);
    ++compared;
  }
  CHECK(compared > 80);
}
