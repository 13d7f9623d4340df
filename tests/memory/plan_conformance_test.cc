// Every synthetic case of vLLM's own planning functions, thirteen versions, to the byte.
//
// Source: vLLM's released Python of each version, called with its own spec objects (see the README
// beside the cases). Skipped, with a message, where the corpus is absent.
#include <algorithm>
#include <cstdio>
#include <fstream>
#include <string>

#include "tests/memory/planning_cases.h"
#include "tests/support/catch.h"

namespace kvbudget::memory {
namespace {

void compare_refusal(const Plan& plan, const json& output, Differences& differences) {
  differences.compare("reason", reason_of(plan.refusal), output.value("reason", ""));
  if (output.contains("needed_bytes")) {
    differences.compare("needed_bytes", plan.needed_bytes, output["needed_bytes"]);
    differences.compare("available_bytes", plan.available_bytes, output["available_bytes"]);
    differences.compare("worker", plan.worker, output["worker"]);
  }
  if (output.contains("estimated_max_len")) {
    differences.compare("estimated_max_len", plan.estimated_max_len, output["estimated_max_len"]);
  }
  if (output.contains("max_model_len")) {
    differences.compare("max_model_len", plan.max_model_len, output["max_model_len"]);
  }
}

json layers_on(const PlanGroup& group, const std::vector<uint32_t>& worker) {
  json layers = json::array();
  for (const uint32_t layer : group.layers) {
    if (std::find(worker.begin(), worker.end(), layer) != worker.end()) layers.push_back(layer);
  }
  return layers;
}

/// The engine describes mixed groups by the layers of the first rank, and before 0.17 by all.
void compare_mixed(const PlanGroup& group, const PlanInput& input, const std::string& at,
                   const json& theirs, Differences& differences) {
  const bool by_rank = rules_for(input.release).projects_groups && !input.workers.empty();
  const std::vector<uint32_t> first = by_rank ? input.workers.front() : group.layers;
  json pages = json::array();
  uint64_t sum = 0;
  for (size_t i = 0; i < group.layers.size(); ++i) {
    if (by_rank && std::find(first.begin(), first.end(), group.layers[i]) == first.end()) continue;
    pages.push_back(group.layer_page_bytes[i]);
    sum += group.layer_page_bytes[i];
  }
  differences.compare(at + "page", sum, theirs["page_size_bytes"]);
  if (theirs.contains("layer_page_sizes")) {
    differences.compare(at + "layer pages", pages, theirs["layer_page_sizes"]);
  }
}

void compare_groups(const Plan& plan, const PlanInput& input, const json& output,
                    Differences& differences) {
  differences.compare("groups", plan.groups.size(), output["groups"].size());
  for (size_t i = 0; i < plan.groups.size() && i < output["groups"].size(); ++i) {
    const PlanGroup& group = plan.groups[i];
    const json& theirs = output["groups"][i];
    const std::string at = "group " + std::to_string(i) + " ";
    differences.compare(at + "kind", spec_kind_name(group.kind), theirs["kind"]);
    differences.compare(at + "block", group.block_tokens, theirs["block_size"]);
    differences.compare(at + "mixed", group.mixed, theirs.value("mixed_sizes", false));
    differences.compare(at + "window", group.window_tokens, theirs.value("sliding_window", 0));
    if (!group.mixed) differences.compare(at + "page", group.page_bytes, theirs["page_size_bytes"]);
    if (group.mixed) compare_mixed(group, input, at, theirs, differences);
    if (theirs.contains("layers"))
      differences.compare(at + "layers", group.layers, theirs["layers"]);
  }
  if (!output.contains("worker_groups")) return;
  json ours = json::array();
  for (const std::vector<uint32_t>& worker : input.workers) {
    json groups = json::array();
    const bool grouped = rules_for(input.release).groups_across_ranks || !worker.empty();
    for (const PlanGroup& group : plan.groups) {
      if (grouped) groups.push_back(layers_on(group, worker));
    }
    ours.push_back(groups);
  }
  differences.compare("worker_groups", ours, output["worker_groups"]);
}

void compare_plan(const Plan& plan, const PlanInput& input, const json& output,
                  Differences& differences) {
  differences.compare("num_blocks", plan.num_blocks, output["num_blocks"]);
  compare_groups(plan, input, output, differences);
  for (size_t i = 0; i < output["tensor_bytes"].size(); ++i) {
    differences.compare("tensor_bytes", plan.ranks.at(i).tensor_bytes, output["tensor_bytes"][i]);
  }
  for (size_t i = 0; output.contains("check") && i < output["check"].size(); ++i) {
    const json& check = output["check"][i];
    differences.compare("check available", plan.ranks.at(i).available_bytes, check["available"]);
    differences.compare("check needed", plan.ranks.at(i).needed_bytes, check["needed"]);
  }
  if (output.contains("max_model_len")) {
    differences.compare("max_model_len", plan.max_model_len, output["max_model_len"]);
  }
  if (!output.contains("max_concurrency")) return;
  differences.compare("max_concurrency", plan.max_concurrency, output["max_concurrency"]);
  differences.compare("kv_tokens", plan.kv_tokens, output["kv_tokens"]);
  for (size_t i = 0; i < output["log_tokens"].size(); ++i) {
    char text[32];
    std::snprintf(text, sizeof text, "%.2f", plan.ranks.at(i).max_concurrency);
    differences.compare("log_tokens", plan.ranks.at(i).log_tokens, output["log_tokens"][i]);
    differences.compare("log_concurrency", text, output["log_concurrency"][i]);
  }
}

std::string run_case(const json& line, uint32_t release) {
  const PlanInput input = read_planning_input(line["input"], release);
  Differences differences;
  const PlanRules rules = rules_for(input.release);
  for (size_t i = 0; i < input.specs.size(); ++i) {
    const json& spec = line["input"]["specs"][i];
    CacheSpec aligned = input.specs[i];
    if (aligned.page_alignment != 0) aligned.padded_page_bytes = 0;
    align_page(aligned, rules);
    differences.compare("spec page", page_bytes(aligned, rules), spec["page_size_bytes"]);
  }
  std::vector<int64_t> available =
      line["input"]["available_memory_bytes"].get<std::vector<int64_t>>();
  const Plan result = Planner(input).plan(available);
  const json& output = line["output"];
  differences.compare("ok", result.ok(), output["ok"]);
  if (result.ok() && output["ok"]) {
    compare_plan(result, input, output, differences);
  } else if (!output["ok"]) {
    compare_refusal(result, output, differences);
  }
  return differences.text();
}

TEST_CASE("plans equal vLLM's own in every synthetic case of every version", "[corpus]") {
  const std::filesystem::path folder = planning_path("");
  if (!test::shared_exists(folder)) return;
  const char* const versions[] = {"0.10.2", "0.11.2", "0.14.1", "0.17.1", "0.19.1",
                                  "0.20.2", "0.22.1", "0.24.0", "0.26.0", "0.28.0",
                                  "0.30.0", "0.32.0", "0.33.0"};
  for (const std::string version : versions) {
    std::ifstream file(folder / (version + ".jsonl"));
    size_t cases = 0;
    size_t matched = 0;
    for (std::string text; std::getline(file, text);) {
      const json line = json::parse(text);
      const std::string differences = run_case(line, release_number(version));
      ++cases;
      matched += differences.empty();
      if (!differences.empty()) {
        UNSCOPED_INFO(version << " " << line["id"].get<std::string>() << ": " << differences);
        std::printf("%s %s: %.400s\n", version.c_str(), line["id"].get<std::string>().c_str(),
                    differences.c_str());
      }
    }
    std::printf("%-8s %4zu cases, %4zu matched\n", version.c_str(), cases, matched);
    CHECK(cases > 0);
    CHECK(matched == cases);
  }
}

}  // namespace
}  // namespace kvbudget::memory
