#include <cmath>
#include <cstdio>
#include <iostream>
#include <map>

#include "lint/memory/bytes.h"
#include "lint/memory/weights.h"
#include "lint/models/online_quantization.h"
#include "tests/models/corpus.h"

using namespace kvbudget;
using nlohmann::json;

namespace {

// "--tensor-parallel-size 2" of a case, whether its source states it or it was inferred.
std::string argument(const json& record, const std::string& name, const std::string& otherwise) {
  for (const char* list : {"argv", "argv_inferred"}) {
    if (!record.contains(list) || !record[list].is_array()) continue;
    const json& words = record[list];
    for (size_t i = 0; i + 1 < words.size(); ++i) {
      if (words[i] == name) return words[i + 1];
    }
  }
  return otherwise;
}

bool has_flag(const json& record, const std::string& name) {
  const json& words = record["argv"];
  return std::find(words.begin(), words.end(), name) != words.end();
}

memory::EngineSettings settings_of(const json& record, const memory::ModelShape& shape) {
  memory::EngineSettings settings;
  const std::string release = record["engine"];
  unsigned minor = 0, patch = 0;
  std::sscanf(release.c_str(), "0.%u.%u", &minor, &patch);
  settings.release = {minor * 100 + patch};
  settings.tensor_parallel =
      static_cast<uint32_t>(std::stoul(argument(record, "--tensor-parallel-size", "1")));
  settings.pipeline_parallel =
      static_cast<uint32_t>(std::stoul(argument(record, "--pipeline-parallel-size", "1")));
  settings.expert_parallel = has_flag(record, "--enable-expert-parallel");
  settings.dtype = shape.dtype;
  if (argument(record, "--dtype", "") == "float32") {
    settings.dtype = memory::ElementType::kFloat32;
  }
  return settings;
}

// "within 1.55% of a count from the config": the total holds weights that the engine does not load.
double stated_tolerance(const std::string& note) {
  const size_t at = note.find("within ");
  return at == std::string::npos ? 1.0 : std::max(1.0, std::stod(note.substr(at + 7)) + 0.01);
}

double percent(double found, double wanted) { return 100.0 * (found - wanted) / wanted; }

}  // namespace

TEST_CASE("published parameter counts follow from the config", "[corpus]") {
  const std::filesystem::path shared = test::shared_path("");
  if (!test::shared_exists(shared / "corpus")) return;
  std::ifstream in(shared / "corpus" / "models" / "WEIGHTS.tsv");
  std::string line;
  size_t compared = 0;
  for (std::getline(in, line); std::getline(in, line);) {
    const std::vector<std::string> row = test::tsv_cells(line, 8);
    const bool exact = row[5].find("within") != std::string::npos ||
                       row[5].find("index metadata") != std::string::npos ||
                       row[5].find("params/index") != std::string::npos;
    std::string file = row[0];
    const size_t slash = file.find('/');
    if (row[1].empty() || !exact || slash == std::string::npos) continue;
    file.replace(slash, 1, "__");
    const ModelFiles files = test::corpus_files(shared / "corpus" / "models" / (file + ".json"));
    if (files.config.empty()) continue;
    const ShapeResult result = read_shape(files);
    if (result.shape == nullptr) {
      std::cout << "  refused " << row[0] << ": " << result.error << "\n";
      continue;
    }
    const auto found = static_cast<double>(memory::parameter_count(*result.shape));
    const double off = percent(found, std::stod(row[1]));
    std::printf("  %-45s %15s %+.3f %%\n", row[0].c_str(), row[1].c_str(), off);
    INFO(row[0] << ": " << row[5]);
    CHECK(std::fabs(off) < stated_tolerance(row[5]));
    ++compared;
  }
  CHECK(compared > 30);
}

TEST_CASE("weights that engines logged follow from config, parallelism and allocator", "[corpus]") {
  const std::filesystem::path shared = test::shared_path("");
  if (!test::shared_exists(shared / "corpus")) return;
  size_t compared = 0;
  for (const json& record : test::read_lines(shared / "groundtruth" / "cases.jsonl")) {
    const json& usable = record["usable_for"];
    if (std::find(usable.begin(), usable.end(), "weights") == usable.end()) continue;
    if (record.value("kv_shape_only", false)) continue;
    if (!argument(record, "--cpu-offload-gb", "").empty()) continue;
    std::filesystem::path config = shared / "groundtruth" / "models" / record["config"];
    if (!std::filesystem::exists(config)) config = shared / "corpus" / "models" / record["config"];
    const ShapeResult result = read_shape(test::corpus_files(config));
    const std::string id = record["id"];
    if (result.shape == nullptr) {
      std::cout << "  refused " << id << ": " << result.error << "\n";
      continue;
    }
    memory::ModelShape shape = *result.shape;
    const std::string method = argument(record, "--quantization", "");
    if (!method.empty() && shape.quantization.empty())
      CHECK(models::quantize_online(shape, method));
    const memory::EngineSettings settings = settings_of(record, shape);
    const double wanted = record["truth"]["weights_gib"];
    // Of cards, only the kernels of experts ask; those that are logged ran on Hopper.
    const memory::ExpertTiles tiles =
        memory::expert_tiles(shape, settings, {.capability_major = 9, .capability_minor = 0});
    double off = 100;  // a log may be of any stage
    for (uint32_t stage = 0; stage < settings.pipeline_parallel; ++stage) {
      const double found = memory::gib(memory::rank_weight_bytes(shape, settings, stage, tiles));
      if (std::fabs(percent(found, wanted)) < std::fabs(off)) off = percent(found, wanted);
    }
    std::printf("  %-48s logged %8.3f found %+.2f %%\n", id.c_str(), wanted, off);
    INFO(id);
    CHECK(std::fabs(off) < 3.0);  // 0.7.2 kept more copies for MLA
    ++compared;
  }
  CHECK(compared > 40);
}
