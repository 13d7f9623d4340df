// Seventy plans that vLLM's own planning functions made, one line each, from 0.10 to 0.33.
// Source and notation: first line of fixtures/observed/planning.jsonl.
#include <fstream>
#include <nlohmann/json.hpp>
#include <string>

#include "lint/memory/plan.h"
#include "tests/memory/planning_cases.h"
#include "tests/support/catch.h"

namespace kvbudget::memory {
namespace {

ElementType element_named(const std::string& name) {
  for (int i = 0; i <= static_cast<int>(ElementType::kInt4); ++i) {
    if (name == layout::name(static_cast<ElementType>(i))) return static_cast<ElementType>(i);
  }
  FAIL("unknown element " << name);
  return ElementType::kBFloat16;
}

SpecKind kind_named(const std::string& name) {
  for (int i = 0; i <= static_cast<int>(SpecKind::kMamba); ++i) {
    if (name == spec_kind_name(static_cast<SpecKind>(i))) return static_cast<SpecKind>(i);
  }
  FAIL("unknown kind " << name);
  return SpecKind::kFull;
}

CacheSpec read_spec(const json& from) {
  CacheSpec spec;
  spec.kind = kind_named(from["kind"]);
  spec.block_tokens = from["block"];
  spec.kv_heads = from.value("heads", 0u);
  spec.head_dim = from.value("dim", 0u);
  spec.value_head_dim = from.value("value_dim", spec.head_dim);
  spec.element = element_named(from.value("element", "bfloat16"));
  spec.quant = kv_quant(parse_kv_dtype(from.value("quant", "auto")).value());
  spec.mla_dtype = parse_kv_dtype(from.value("mla_dtype", "")).value_or(KvDtype::kUnset);
  spec.deepseek_v4 = from.value("deepseek_v4", false);
  spec.backend_pads = from.value("backend_pads", false);
  spec.window_tokens = from.value("window", 0u);
  spec.chunk_tokens = from.value("chunk", 0u);
  spec.tokens_per_state = from.value("tokens_per_state", 1u);
  spec.page_alignment = from.value("alignment", 0u);
  spec.padded_page_bytes = from.value("padded", uint64_t{0});
  spec.state_bytes = from.value("state_bytes", uint64_t{0});
  spec.speculative_blocks = from.value("speculative", 0u);
  spec.shards_context = spec.kind != SpecKind::kMamba;
  return spec;
}

PlanInput read_input(const json& line) {
  PlanInput input;
  input.release.number = release_number(line["engine"]);
  for (const json& spec : line["specs"]) input.specs.push_back(read_spec(spec));
  for (const json& run : line["layers"]) {
    input.layers.insert(input.layers.end(), run[1].get<size_t>(), run[0].get<uint32_t>());
  }
  for (const json& rank : line.value("ranks", json::array())) {
    std::vector<uint32_t>& worker = input.workers.emplace_back(rank[1].get<size_t>());
    for (uint32_t i = 0; i < worker.size(); ++i) worker[i] = rank[0].get<uint32_t>() + i;
  }
  input.max_model_len = line["max_len"];
  input.max_num_batched_tokens = line["batch"];
  input.max_in_flight_tokens = line.value("in_flight", uint64_t{0});
  input.max_encoder_tokens = line.value("encoder", uint64_t{0});
  input.auto_fit = line.value("auto_fit", false);
  input.block_tokens = line.value("block", 16u);
  input.decode_context_parallel = line.value("dcp", 1u);
  input.prefill_context_parallel = line.value("pcp", 1u);
  if (line.contains("override")) input.num_gpu_blocks_override = line["override"].get<uint64_t>();
  input.hybrid_manager = line.value("hybrid_manager", true);
  input.blocks_outermost = line.value("blocks_outermost", false);
  const std::string mode = line.value("mamba", "none");
  if (mode == "align") input.mamba_mode = MambaMode::kAlign;
  if (mode == "all") input.mamba_mode = MambaMode::kAll;
  return input;
}

json outcome(const Plan& plan, const json& expected) {
  json ours;
  if (!plan.ok()) {
    ours = {{"refusal", reason_of(plan.refusal)}};
    if (expected.contains("needed")) {
      ours["needed"] = plan.needed_bytes;
      ours["available"] = plan.available_bytes;
      ours["worker"] = plan.worker;
    }
    if (plan.refusal == Refusal::kTooSmall) ours["longest"] = plan.estimated_max_len;
    return ours;
  }
  ours = {{"blocks", plan.num_blocks}, {"groups", plan.groups.size()}};
  for (const RankPlan& rank : plan.ranks) ours["tensor_bytes"].push_back(rank.tensor_bytes);
  if (expected.contains("needed")) ours["needed"] = plan.ranks.front().needed_bytes;
  if (expected.contains("max_len")) ours["max_len"] = plan.max_model_len;
  if (!expected.contains("concurrency")) return ours;
  ours["concurrency"] = plan.max_concurrency;
  for (size_t i = 0; i < expected["log_tokens"].size(); ++i) {
    ours["log_tokens"].push_back(plan.ranks.at(i).log_tokens);
  }
  return ours;
}

TEST_CASE("observed plans are met to the byte") {
  std::ifstream file(KVB_SOURCE_DIR "/fixtures/observed/planning.jsonl");
  REQUIRE(file);
  size_t plans = 0;
  for (std::string text; std::getline(file, text);) {
    const json line = json::parse(text);
    if (line.contains("source")) continue;
    INFO(line["engine"].get<std::string>() << " " << line["case"].get<std::string>());
    const Plan plan = Planner(read_input(line)).plan(line["memory"].get<std::vector<int64_t>>());
    CHECK(outcome(plan, line["expect"]) == line["expect"]);
    ++plans;
  }
  CHECK(plans >= 60);
}

}  // namespace
}  // namespace kvbudget::memory
