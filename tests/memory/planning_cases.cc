#include "tests/memory/planning_cases.h"

#include <cctype>
#include <cstdio>
#include <cstdlib>

#include "tests/support/catch.h"

namespace kvbudget::memory {
namespace {

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

void read_state(const json& from, StateIds& states, CacheSpec& spec) {
  const std::string identity = from["shapes"].dump() + from["dtypes"].dump();
  spec.state_id = states.emplace(identity, states.size()).first->second;
  for (size_t i = 0; i < from["shapes"].size(); ++i) {
    uint64_t elements = 1;
    for (const json& extent : from["shapes"][i]) elements *= extent.get<uint64_t>();
    spec.state_bytes += elements * layout::bits(element_of(from["dtypes"][i])) / 8;
  }
  spec.speculative_blocks = from.value("num_speculative_blocks", 0u);
  spec.checkpoint_blocks = from.value("num_prefill_checkpoint_blocks", 0u);
}

void compare_groups(const Plan& plan, const json& groups, Differences& differences) {
  size_t next = 0;
  for (const json& group : groups) {
    for (int i = 0; i < group.value("times", 1); ++i, ++next) {
      if (next >= plan.groups.size()) continue;
      const PlanGroup& ours = plan.groups[next];
      differences.compare("group kind", spec_kind_name(ours.kind), group["kind"]);
      differences.compare("group block", ours.block_tokens, group["block_size"]);
      if (!ours.mixed) differences.compare("group page", ours.page_bytes, group["page_size_bytes"]);
    }
  }
  differences.compare("groups", plan.groups.size(), next);
}

}  // namespace

CacheSpec read_planning_spec(const json& from, StateIds& states) {
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

void read_planning_limits(const json& from, PlanInput& input) {
  input.max_model_len = from["max_model_len"];
  input.auto_fit = from.value("auto_fit_max_model_len", false);
  input.max_num_batched_tokens = from["max_num_batched_tokens"];
  input.max_in_flight_tokens = from.value("max_in_flight_tokens", 0u);
  input.max_encoder_tokens = from.value("max_num_encoder_input_tokens", 0u);
  input.block_tokens = from["block_size"];
  input.decode_context_parallel = from.value("dcp", 1u);
  input.prefill_context_parallel = from.value("pcp", 1u);
  if (from.contains("num_gpu_blocks_override")) {
    input.num_gpu_blocks_override = from["num_gpu_blocks_override"].get<uint64_t>();
  }
  input.hybrid_manager = from["hybrid_kv_cache_manager"];
  input.blocks_outermost = from.value("kv_cache_layout", "L")[0] == 'B';
  const std::string mode = from["mamba_cache_mode"];
  input.mamba_mode = mode == "align" ? MambaMode::kAlign
                     : mode == "all" ? MambaMode::kAll
                                     : MambaMode::kNone;
}

PlanInput read_planning_input(const json& from, uint32_t release) {
  PlanInput input;
  input.release.number = release;
  StateIds states;
  for (const json& spec : from["specs"]) input.specs.push_back(read_planning_spec(spec, states));
  input.layers = from["layers"].get<std::vector<uint32_t>>();
  if (from.contains("workers")) {
    input.workers = from["workers"].get<std::vector<std::vector<uint32_t>>>();
  }
  read_planning_limits(from, input);
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

uint32_t release_number(const std::string& version) {
  unsigned minor = 0;
  unsigned patch = 0;
  REQUIRE(std::sscanf(version.c_str(), "0.%u.%u", &minor, &patch) == 2);
  return minor * 100 + patch;
}

void compare_real_plan(const Planner& planner, const json& theirs, const json& groups,
                       Differences& differences) {
  const Plan plan = planner.plan(theirs["available_memory_bytes"].get<std::vector<int64_t>>());
  differences.compare("ok", plan.ok(), theirs["ok"]);
  for (size_t i = 0; i < theirs["check"].size() && i < plan.ranks.size(); ++i) {
    differences.compare("needed", plan.ranks[i].needed_bytes, theirs["check"][i]["needed"]);
    differences.compare("available", plan.ranks[i].available_bytes,
                        theirs["check"][i]["available"]);
    if (!plan.ok()) break;
  }
  if (!theirs["ok"]) {
    differences.compare("reason", reason_of(plan.refusal), theirs["reason"]);
    differences.compare("estimated_max_len", plan.estimated_max_len, theirs["estimated_max_len"]);
    return;
  }
  differences.compare("num_blocks", plan.num_blocks, theirs["num_blocks"]);
  differences.compare("tensor_bytes", plan.ranks.at(0).tensor_bytes, theirs["tensor_bytes"]);
  differences.compare("max_concurrency", plan.max_concurrency, theirs["max_concurrency"]);
  differences.compare("kv_tokens", plan.kv_tokens, theirs["kv_tokens"]);
  if (plan.ranks.size() == 1) compare_groups(plan, groups, differences);
}

}  // namespace kvbudget::memory
