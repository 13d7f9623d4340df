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

}  // namespace kvbudget::memory
