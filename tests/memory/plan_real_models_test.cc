// The plans of real architectures: the layers that vLLM's own model classes declare, planned by its
// own functions.
//
// Source: vLLM 0.19.1, 0.22.1, 0.24.0, 0.32.0 and 0.33.0, model classes built without weights (see
// the README beside the cases). Skipped, with a message, where the corpus is absent.
#include <cstdio>
#include <fstream>
#include <string>

#include "tests/memory/planning_cases.h"
#include "tests/support/catch.h"

namespace kvbudget::memory {
namespace {

void add_rank(const json& rank, StateIds& states, PlanInput& input) {
  const auto first = static_cast<uint32_t>(input.specs.size());
  for (const json& spec : rank["specs"]) input.specs.push_back(read_planning_spec(spec, states));
  std::vector<uint32_t>& worker = input.workers.emplace_back();
  for (const json& run : rank["runs"]) {
    for (uint32_t i = 0; i < run[1].get<uint32_t>(); ++i) {
      worker.push_back(static_cast<uint32_t>(input.layers.size()));
      input.layers.push_back(first + run[0].get<uint32_t>());
    }
  }
}

PlanInput read_model(const json& line) {
  PlanInput input;
  input.release.number = release_number(line["engine_version"]);
  json limits = line["scheduler_config"];
  limits["max_model_len"] = line["model_config"]["max_model_len"];
  limits["block_size"] = line["cache_config"]["block_size"];
  limits["mamba_cache_mode"] = line["cache_config"]["mamba_cache_mode"];
  if (line.contains("kv_cache_layout")) limits["kv_cache_layout"] = line["kv_cache_layout"];
  read_planning_limits(limits, input);
  StateIds states;
  if (!line.contains("ranks")) {
    add_rank(line["layers"], states, input);
    return input;
  }
  for (const json& rank : line["ranks"]) add_rank(rank, states, input);
  return input;
}

TEST_CASE("plans of real architectures equal vLLM's own", "[corpus]") {
  if (!test::shared_exists(planning_path("real-models.jsonl"))) return;
  std::ifstream file(planning_path("real-models.jsonl"));
  size_t models = 0;
  size_t matched = 0;
  for (std::string text; std::getline(file, text);) {
    const json line = json::parse(text);
    if (!line["ok"] || !line.contains("groups")) continue;
    const Planner planner(read_model(line));
    Differences differences;
    for (const json& theirs : line["plans"]) {
      compare_real_plan(planner, theirs, line["groups"], differences);
    }
    ++models;
    matched += differences.text().empty();
    if (differences.text().empty()) continue;
    std::printf("%s %s tp%d pp%d: %.600s\n", line["engine_version"].get<std::string>().c_str(),
                line["model"].get<std::string>().c_str(), line["tp"].get<int>(),
                line["pp"].get<int>(), differences.text().c_str());
  }
  std::printf("real models: %zu, %zu matched\n", models, matched);
  CHECK(models > 500);
  CHECK(matched == models);
}

}  // namespace
}  // namespace kvbudget::memory
