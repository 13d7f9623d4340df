// What others measured or computed of the KV cache's bytes per token, in 16 bits.
#include <cstdio>

#include "tests/models/corpus.h"

using namespace kvbudget;

namespace {

/// Every layer with a cache as if it kept the whole context, as these figures count.
uint64_t bytes_per_token(const memory::ModelShape& shape) {
  constexpr uint64_t kBytes = 2;
  uint64_t bytes = 0;
  for (const memory::LayerCache& cache : shape.caches) {
    if (cache.kind == memory::CacheKind::kMamba) continue;
    const uint64_t values = cache.kind == memory::CacheKind::kMla ? 0 : cache.value_head_dim;
    bytes += cache.kv_heads * (cache.head_dim + values) * kBytes;
  }
  return bytes;
}

}  // namespace

TEST_CASE("published bytes per token follow from the config", "[corpus]") {
  if (!test::shared_exists(test::shared_path("corpus/models"))) return;
  std::ifstream in(test::shared_path("corpus/models/KV_FACTS.tsv"));
  std::string line;
  size_t compared = 0;
  for (std::getline(in, line); std::getline(in, line);) {
    const std::vector<std::string> row = test::tsv_cells(line, 3);
    const ModelFiles files = test::known_files(row[0]);
    if (files.config.empty()) continue;  // other formats, and models without a config here
    const ShapeResult read = read_shape(files);
    INFO(row[0] << ": " << read.error);
    REQUIRE(read.shape != nullptr);
    CHECK(bytes_per_token(*read.shape) == std::stoull(row[1]));
    ++compared;
  }
  std::printf("  %zu figures compared\n", compared);
  CHECK(compared >= 10);
}
