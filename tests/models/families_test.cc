// Small configs of many families against what the engine itself makes of them: its classes, built
// without weights, and the caches that its layers ask for (fixtures/models/families.jsonl).
#include <nlohmann/json.hpp>

#include "lint/memory/weights.h"
#include "lint/models/context.h"
#include "tests/models/shapes.h"
#include "tests/support/catch.h"

using namespace kvbudget;
using nlohmann::json;

namespace {

std::string extents(const std::vector<uint64_t>& shape) {
  std::string text;
  for (const uint64_t extent : shape) text += (text.empty() ? "" : "x") + std::to_string(extent);
  return text;
}

std::string text_of(const memory::LayerCache& cache) {
  if (cache.kind == memory::CacheKind::kMamba) {
    std::string text = "recurrent";
    for (const memory::StateTensor& tensor : cache.state)
      text += " (" + extents(tensor.shape) + ")";
    return text;
  }
  const bool sliding = cache.kind == memory::CacheKind::kSliding;
  std::string text = sliding                                     ? "sliding "
                     : cache.kind == memory::CacheKind::kMla     ? "mla "
                     : cache.kind == memory::CacheKind::kChunked ? "chunked "
                                                                 : "full ";
  text += std::to_string(cache.kv_heads) + "x" + std::to_string(cache.head_dim) + "/" +
          std::to_string(cache.value_head_dim);
  return sliding ? text + " window " + std::to_string(cache.window_tokens) : text;
}

// "2 full 4x64/64" for each kind of cache, in the order in which the model comes to it.
json caches_of(const memory::ModelShape& shape) {
  std::vector<std::pair<std::string, size_t>> kinds;
  for (const memory::LayerCache& cache : shape.caches) {
    const std::string text = text_of(cache);
    const auto same = std::find_if(kinds.begin(), kinds.end(),
                                   [&](const auto& kind) { return kind.first == text; });
    if (same == kinds.end()) {
      kinds.emplace_back(text, 1);
    } else {
      ++same->second;
    }
  }
  json result = json::array();
  for (const auto& [text, count] : kinds) result.push_back(std::to_string(count) + " " + text);
  return result;
}

// Without the second copy of a latent up-projection, which the engine makes after loading.
uint64_t loaded_parameters(memory::ModelShape shape) {
  std::erase_if(shape.weights, [](const memory::Weight& weight) {
    return weight.name.find(".absorbed") != std::string::npos;
  });
  return memory::parameter_count(shape);
}

}  // namespace

TEST_CASE("a family has the weights, caches and context that the engine gives it") {
  std::ifstream in(std::filesystem::path(KVB_SOURCE_DIR) / "fixtures/models/families.jsonl");
  size_t compared = 0;
  for (std::string text; std::getline(in, text); ++compared) {
    const json line = json::parse(text);
    const ShapeResult result = test::shape_of(line["config"].dump());
    INFO(line["config"].dump());
    INFO(result.error);
    REQUIRE(result.shape != nullptr);
    CHECK(loaded_parameters(*result.shape) == line["parameters"]);
    CHECK(caches_of(*result.shape) == line["caches"]);
    CHECK(context_limit(*result.shape, Version{0, 32, 0}, false).default_tokens == line["context"]);
  }
  CHECK(compared > 20);
}
