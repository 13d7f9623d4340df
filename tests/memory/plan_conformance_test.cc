// Every synthetic case of vLLM's own planning functions, thirteen versions, to the byte.
//
// Source: vLLM's released Python of each version, called with its own spec objects (see the README
// beside the cases). Skipped, with a message, where the corpus is absent.
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <map>
#include <nlohmann/json.hpp>
#include <sstream>
#include <string>

#include "lint/memory/plan.h"
#include "tests/support/catch.h"

namespace kvbudget::memory {
namespace {

using nlohmann::json;

ElementType element_of(const std::string& name) {
  const std::map<std::string, ElementType> types = {{"bfloat16", ElementType::kBFloat16},
                                                    {"float16", ElementType::kFloat16},
                                                    {"float32", ElementType::kFloat32},
                                                    {"int8", ElementType::kInt8},
                                                    {"uint8", ElementType::kUInt8}};
  return types.at(name);
}

SpecKind kind_of(const std::string& name) {
  for (int i = 0; i <= static_cast<int>(SpecKind::kMamba); ++i) {
    if (name == spec_kind_name(static_cast<SpecKind>(i))) return static_cast<SpecKind>(i);
  }
  FAIL("unknown kind " << name);
  return SpecKind::kFull;
}

/// Quantisation modes are named as the dtypes, in capitals; turboquant slots before 0.28 only by
/// their size.
KvQuant quant_of(const json& spec, uint32_t key_dim, uint32_t value_dim) {
  std::string mode = spec.value("kv_quant_mode", "");
  if (mode == "FP8_PER_TENSOR") return KvQuant::kFp8PerTensor;
  for (char& c : mode) c = static_cast<char>(std::tolower(c));
  if (const auto dtype = parse_kv_dtype(mode)) return kv_quant(*dtype);
  if (!spec.contains("tq_slot_size")) return KvQuant::kNone;
  for (const KvQuant quant : {KvQuant::kTurboquantK8V4, KvQuant::kTurboquant4BitNc,
                              KvQuant::kTurboquantK3V4Nc, KvQuant::kTurboquant3BitNc}) {
    if (kv_head_bytes(quant, ElementType::kUInt8, key_dim, value_dim) == spec["tq_slot_size"]) {
      return quant;
    }
  }
  FAIL("unknown slot size");
  return KvQuant::kNone;
}

void read_state(const json& from, std::map<std::string, uint32_t>& states, CacheSpec& spec) {
  const std::string identity = from["shapes"].dump() + from["dtypes"].dump();
  spec.state_id = states.emplace(identity, states.size()).first->second;
  for (size_t i = 0; i < from["shapes"].size(); ++i) {
    uint64_t elements = 1;
    for (const json& extent : from["shapes"][i]) elements *= extent.get<uint64_t>();
    spec.state_bytes += elements * layout::bits(element_of(from["dtypes"][i])) / 8;
  }
  spec.speculative_blocks = from.value("num_speculative_blocks", 0);
}

CacheSpec read_spec(const json& from, std::map<std::string, uint32_t>& states) {
  CacheSpec spec;
  spec.kind = kind_of(from["kind"]);
  spec.block_tokens = from["block_size"];
  spec.padded_page_bytes = from.value("page_size_padded", uint64_t{0});
  spec.shards_context = from.value("dcp_sharded", true);
  if (spec.kind == SpecKind::kMamba) {
    read_state(from, states, spec);
    return spec;
  }
  spec.element = element_of(from["dtype"]);
  spec.kv_heads = from["num_kv_heads"];
  spec.head_dim = from["head_size"];
  spec.value_head_dim = from.value("head_size_v", spec.head_dim);
  spec.quant = quant_of(from, spec.head_dim, spec.value_head_dim);
  spec.mla_dtype = parse_kv_dtype(from.value("cache_dtype_str", "")).value_or(KvDtype::kUnset);
  spec.deepseek_v4 = from.value("model_version", "") == "deepseek_v4";
  spec.backend_pads = from.value("indexes_kv_by_block_stride", false);
  spec.window_tokens = from.value("sliding_window", 0u);
  spec.chunk_tokens = from.value("attention_chunk_size", 0u);
  spec.tokens_per_state = from.value("compress_ratio", from.value("tokens_per_state", 1u));
  spec.page_alignment = from.value("alignment", 0u);
  return spec;
}

PlanInput read_input(const json& from, uint32_t release) {
  PlanInput input;
  input.release.number = release;
  std::map<std::string, uint32_t> states;
  for (const json& spec : from["specs"]) input.specs.push_back(read_spec(spec, states));
  input.layers = from["layers"].get<std::vector<uint32_t>>();
  if (from.contains("workers")) {
    input.workers = from["workers"].get<std::vector<std::vector<uint32_t>>>();
  }
  input.max_model_len = from["max_model_len"];
  input.auto_fit = from.value("auto_fit_max_model_len", false);
  input.max_num_batched_tokens = from["max_num_batched_tokens"];
  input.max_in_flight_tokens = from.value("max_in_flight_tokens", 0u);
  input.max_encoder_tokens = from.value("max_num_encoder_input_tokens", 0u);
  input.block_tokens = from["block_size"];
  input.decode_context_parallel = from["dcp"];
  input.prefill_context_parallel = from["pcp"];
  if (from.contains("num_gpu_blocks_override")) {
    input.num_gpu_blocks_override = from["num_gpu_blocks_override"].get<uint64_t>();
  }
  input.hybrid_manager = from["hybrid_kv_cache_manager"];
  input.blocks_outermost = from.value("kv_cache_layout", "L")[0] == 'B';
  const std::string mode = from["mamba_cache_mode"];
  input.mamba_mode = mode == "align" ? MambaMode::kAlign
                     : mode == "all" ? MambaMode::kAll
                                     : MambaMode::kNone;
  return input;
}

const char* reason_of(Refusal refusal) {
  switch (refusal) {
    case Refusal::kNone:
      return "";
    case Refusal::kNoMemory:
      return "no_memory";
    case Refusal::kTooSmall:
      return "too_small";
    case Refusal::kAutoFitImpossible:
      return "auto_fit_impossible";
    case Refusal::kUnsupported:
      return "unsupported";
  }
  return "";
}

/// Collects what differs, as "field: ours, theirs".
class Differences {
 public:
  template <typename T>
  void compare(const std::string& field, const T& ours, const json& theirs) {
    const json own = ours;
    if (own != theirs) text_ << field << ": " << own.dump() << ", vLLM " << theirs.dump() << "; ";
  }
  std::string text() const { return text_.str(); }

 private:
  std::ostringstream text_;
};

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
  const PlanInput input = read_input(line["input"], release);
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

std::filesystem::path planning_folder() {
  const char* shared = std::getenv("KVB_SHARED");
  const std::filesystem::path root =
      shared != nullptr ? shared : std::filesystem::path(KVB_SOURCE_DIR) / ".." / "shared";
  return root / "groundtruth" / "vllm-planning";
}

uint32_t release_number(const std::string& version) {
  unsigned minor = 0;
  unsigned patch = 0;
  REQUIRE(std::sscanf(version.c_str(), "0.%u.%u", &minor, &patch) == 2);
  return minor * 100 + patch;
}

TEST_CASE("plans equal vLLM's own in every synthetic case of every version", "[corpus]") {
  const std::filesystem::path folder = planning_folder();
  if (!std::filesystem::exists(folder)) {
    WARN("no corpus at " << folder << ", nothing compared");
    return;
  }
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
