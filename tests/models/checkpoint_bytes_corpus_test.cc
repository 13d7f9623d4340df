// Bytes of published checkpoints: formats with scales and zero points, layers that a checkpoint
// holds beside the model.
#include <cmath>
#include <cstdio>

#include "lint/memory/weights.h"
#include "tests/models/corpus.h"

using namespace kvbudget;
using memory::ElementType;

namespace {

// float32 checkpoints are computed in 16 bits and stored in 32.
ElementType stored_type(const ModelFiles& files, const memory::ModelShape& shape,
                        const std::string& stated) {
  const bool wide = stated == "F32" ||
                    files.config.find(R"("torch_dtype": "float32")") != std::string::npos ||
                    files.config.find(R"("torch_dtype":"float32")") != std::string::npos;
  // Parts that are not served may be stored in another type than the decoder.
  if (shape.multimodal) return shape.dtype;
  return wide ? ElementType::kFloat32 : shape.dtype;
}

uint64_t checkpoint_bytes(const memory::ModelShape& shape, ElementType type) {
  uint64_t bytes = memory::stored_bytes(shape.weights, type);
  if (!shape.mtp) return bytes;
  bytes += memory::stored_bytes(shape.mtp->weights, type);
  // DeepSeek's form stores embeddings and head with each layer.
  const uint64_t heads = shape.mtp->heads.size();
  return bytes + 2 * heads * shape.vocab_size * shape.hidden_size * 2;
}

}  // namespace

// Not within 1 %: a repository of gpt-oss that holds other formats beside the one that is served;
// Qwen2.5-Omni, whose talker the engine leaves out.
TEST_CASE("sizes of published checkpoints follow from the config", "[corpus]") {
  const std::filesystem::path shared = test::shared_path("");
  if (!test::shared_exists(shared / "corpus")) return;
  std::ifstream in(shared / "corpus" / "models" / "WEIGHTS.tsv");
  std::string line;
  size_t compared = 0;
  size_t near = 0;
  for (std::getline(in, line); std::getline(in, line);) {
    const std::vector<std::string> row = test::tsv_cells(line, 8);
    if (row[2].empty()) continue;
    const ModelFiles files = test::known_files(row[0]);
    if (files.config.empty()) continue;
    const ShapeResult read = read_shape(files);
    if (read.shape == nullptr) {
      std::printf("  refused %s: %s\n", row[0].c_str(), read.error.c_str());
      continue;
    }
    const ElementType type = stored_type(files, *read.shape, row[3]);
    const auto found = static_cast<double>(checkpoint_bytes(*read.shape, type));
    const double wanted = std::stod(row[2]);
    const double off = 100.0 * (found - wanted) / wanted;
    std::printf("  %-50s %15.0f %+.3f %%  %s\n", row[0].c_str(), wanted, off,
                read.shape->quantization.c_str());
    ++compared;
    if (std::fabs(off) < 1.0) ++near;
  }
  std::printf("  %zu of %zu within 1 %%\n", near, compared);
  CHECK(compared >= 40);
  CHECK(compared - near <= 2);
}
