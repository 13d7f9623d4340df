// Real architectures once more, from a command line and a config.json alone, through everything
// that an estimate passes: defaults, shape, specs, groups and plans must be vLLM's.
//
// Source: as tests/memory/plan_real_models_test.cc. Skipped, with a message, where the corpus is
// absent.
#include <cstdio>
#include <fstream>
#include <map>

#include "lint/memory/layer_specs.h"
#include "lint/resolve_deployment.h"
#include "tests/memory/planning_cases.h"
#include "tests/support/catch.h"

using namespace kvbudget;
using memory::json;

namespace {

/// The engine was given config.json alone, so the name, which may promise a quantised checkpoint,
/// has no say.
Deployment deployment_of(const json& line) {
  const FileContents contents = read_command_line(
      {"vllm", "serve", "org/model", "--tensor-parallel-size", line["tp"].dump(),
       "--pipeline-parallel-size", line["pp"].dump(), "--kv-cache-dtype", line["kv_dtype"]});
  DiskFiles disk;
  SourceStore sources(disk);
  Inputs inputs;
  inputs.sources = &sources;
  inputs.engine = parse_version(line["engine_version"].get<std::string>());
  inputs.gpu = *find_gpu("H100");
  inputs.gpu->memory_bytes = uint64_t{79} << 30U;
  inputs.gpu_count = line["tp"].get<uint32_t>() * line["pp"].get<uint32_t>();
  std::string file = line["model"];
  file.replace(file.find('/'), 1, "__");
  inputs.models.configs.push_back(
      {"", test::shared_path("corpus/models/" + file + ".json").string()});
  return resolve_deployment(contents.starts.at(0), inputs);
}

std::string difference(const Deployment& d, const json& line) {
  if (!d.shape) return "no shape: " + (d.missing.empty() ? "" : d.missing.front().detail);
  memory::Differences differences;
  differences.compare("length", d.engine.max_model_len, line["model_config"]["max_model_len"]);
  const memory::Planner planner(memory::plan_input(*d.shape, d.engine));
  for (const json& theirs : line["plans"]) {
    memory::compare_real_plan(planner, theirs, line["groups"], differences);
  }
  return differences.text();
}

}  // namespace

TEST_CASE("plans follow from a command line and a config.json", "[corpus]") {
  if (!test::shared_exists(memory::planning_path("real-models.jsonl"))) return;
  std::ifstream file(memory::planning_path("real-models.jsonl"));
  size_t lines = 0;
  size_t matched = 0;
  for (std::string text; std::getline(file, text);) {
    const json line = json::parse(text);
    if (!line["ok"] || !line.contains("groups")) continue;
    if (line.contains("fallbacks") && !line["fallbacks"].empty()) continue;
    const std::string what = difference(deployment_of(line), line);
    ++lines;
    matched += what.empty();
    if (what.empty()) continue;
    std::printf("  %s %s tp%d pp%d %s: %.300s\n", line["engine_version"].get<std::string>().c_str(),
                line["model"].get<std::string>().c_str(), line["tp"].get<int>(),
                line["pp"].get<int>(), line["kv_dtype"].get<std::string>().c_str(), what.c_str());
  }
  std::printf("  plans from config.json: %zu lines, %zu matched\n", lines, matched);
  CHECK(lines > 500);
  CHECK(matched * 100 >= lines * 98);
}
