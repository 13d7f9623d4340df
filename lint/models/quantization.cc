// Formats and their keys: vllm/model_executor/layers/quantization (0.6 to 0.33), and the
// compressed-tensors and ModelOpt documentation of their config files.
#include "lint/models/quantization.h"

#include <algorithm>
#include <array>

#include "lint/read/text.h"

namespace kvbudget::models {

using memory::ElementType;
using memory::WeightFormat;

WeightFormat grouped_format(ElementType type, uint32_t bits, uint32_t group, uint32_t scale_bits,
                            uint32_t zero_bits) {
  return {.type = type,
          .fixed_type = true,
          .bits = bits,
          .group = group,
          .scale_bits = scale_bits,
          .zero_bits = zero_bits};
}

WeightFormat per_row_format(ElementType type, uint32_t scale_bits) {
  return grouped_format(type, layout::bits(type), UINT32_MAX, scale_bits, 0);
}

WeightFormat per_tensor_format(ElementType type) {
  WeightFormat format = per_row_format(type, 32);
  format.group_rows = UINT32_MAX;
  return format;
}

const WeightFormat* Quantization::format_of(std::string_view path, bool expert) const {
  if (experts_only && !expert) return nullptr;
  if (ignored.matches(path)) return nullptr;
  if (expert && experts) return &*experts;
  const bool head = path == "lm_head";  // never among the plain "Linear" of any method
  for (const QuantizedGroup& group : groups) {
    if (group.targets.empty() ? !head : group.targets.matches(path)) {
      return &group.format;
    }
  }
  return nullptr;
}

namespace {

constexpr uint64_t kMaxGroup = 1u << 20;

uint32_t group_of(const Config& config, std::string_view keys, uint32_t otherwise) {
  const Json* value = config.find(keys);
  if (value != nullptr && value->is_number_integer() && value->get<int64_t>() < 0) {
    return UINT32_MAX;  // -1: one group per row
  }
  const uint64_t group = config.count(keys, kMaxGroup).value_or(otherwise);
  return group == 0 ? UINT32_MAX : static_cast<uint32_t>(group);
}

uint32_t bits_of(const Config& config, std::string_view keys, uint32_t otherwise) {
  const uint64_t bits = config.count(keys, 32).value_or(otherwise);
  if (bits == 0) config.fail("key '" + std::string(keys) + "' is 0");
  return static_cast<uint32_t>(bits);
}

WeightFormat block_format(const Config& config, std::string_view key) {
  WeightFormat format = per_tensor_format(ElementType::kFloat8E4M3);
  const Json* block = config.find(key);
  if (block == nullptr) return format;
  if (!block->is_array() || block->size() != 2 || !(*block)[0].is_number_unsigned() ||
      !(*block)[1].is_number_unsigned()) {
    config.fail("key '" + std::string(key) + "' is not a pair of numbers");
    return format;
  }
  format.group_rows = static_cast<uint32_t>(std::clamp<uint64_t>((*block)[0], 1, kMaxGroup));
  format.group = static_cast<uint32_t>(std::clamp<uint64_t>((*block)[1], 1, kMaxGroup));
  return format;
}

void add_patterns(const std::vector<std::string>& names, const Config& config,
                  ModulePatterns& out) {
  for (const std::string& name : names) {
    if (!out.add(name)) config.fail("quantization pattern '" + name + "' is not understood");
  }
}

// Weights of one group of compressed-tensors; ModelOpt writes the same with fewer keys.
WeightFormat group_format(const Config& weights) {
  const uint32_t bits = bits_of(weights, "num_bits", 8);
  const bool is_float = weights.text("type") == "float";
  const std::string strategy = weights.text("strategy");
  const uint32_t group = group_of(weights, "group_size", 0);
  if (is_float && bits == 8) {
    if (weights.has("block_structure")) return block_format(weights, "block_structure");
    return strategy == "channel" ? per_row_format(ElementType::kFloat8E4M3, 32)
                                 : per_tensor_format(ElementType::kFloat8E4M3);
  }
  if (is_float) return grouped_format(ElementType::kFloat4E2M1, bits, group, 8, 0);
  if (bits == 8 && group == UINT32_MAX) {
    return strategy == "tensor" ? per_tensor_format(ElementType::kInt8)
                                : per_row_format(ElementType::kInt8, 32);
  }
  const bool symmetric = weights.flag("symmetric", true);
  return grouped_format(ElementType::kInt4, bits, group, 16, symmetric ? 0 : bits);
}

void read_groups(const Config& config, const Config& groups, Quantization& result) {
  std::vector<QuantizedGroup> general;
  for (const auto& [name, value] : groups.json().items()) {
    const auto group = value.is_object() ? groups.nested(name) : std::nullopt;
    const auto weights = group ? group->nested("weights") : std::nullopt;
    if (!weights) continue;  // activations alone: the weights stay plain
    QuantizedGroup entry;
    entry.format = group_format(*weights);
    std::vector<std::string> targets = group->texts("targets");
    const bool all =
        targets.empty() || std::find(targets.begin(), targets.end(), "Linear") != targets.end();
    if (!all) add_patterns(targets, config, entry.targets);
    (all ? general : result.groups).push_back(std::move(entry));
  }
  for (QuantizedGroup& group : general) result.groups.push_back(std::move(group));
}

void set_all(Quantization& result, const WeightFormat& format) {
  result.groups.emplace_back();
  result.groups.back().format = format;
}

void read_fp8(const Config& config, Quantization& result) {
  set_all(result, block_format(config, "weight_block_size"));
}

void read_fbgemm(const Config&, Quantization& result) {
  set_all(result, per_row_format(ElementType::kFloat8E4M3, 32));
}

void read_compressed(const Config& config, Quantization& result) {
  const auto groups = config.nested("config_groups");
  if (!groups) return config.fail("quantization_config has no 'config_groups'");
  read_groups(config, *groups, result);
  const auto kv = config.nested("kv_cache_scheme");
  if (kv && kv->count("num_bits", 32) == 8 && kv->text("type") == "float") {
    result.kv_cache_scheme = "fp8";
  }
}

// GPTQ and AWQ keep packed zero points even for symmetric weights.
void read_packed(const Config& config, Quantization& result) {
  const uint32_t bits = bits_of(config, "bits|w_bit|wbits", 4);
  const uint32_t group = group_of(config, "group_size|q_group_size", 128);
  set_all(result, grouped_format(ElementType::kInt4, bits, group, 16, bits));
  if (config.flag("lm_head", false)) {
    result.groups.emplace_back();
    result.groups.back().format = result.groups.front().format;
    result.groups.back().targets.add("lm_head");
  }
  if (const auto rules = config.nested("dynamic")) {  // GPTQModel: "-:pattern" leaves modules out
    for (const auto& [name, value] : rules->json().items()) {
      if (name.starts_with("-:")) add_patterns({"re:" + name.substr(2)}, config, result.ignored);
    }
  }
  if (const auto extra = config.nested("extra_config")) {  // AutoRound: bits by module
    for (const auto& [name, value] : extra->json().items()) {
      const auto module = extra->nested(name);
      if (module && module->count("bits", 64).value_or(bits) >= 16) {
        add_patterns({name}, config, result.ignored);
      }
    }
  }
}

void read_bitsandbytes(const Config& config, Quantization& result) {
  const bool four = config.flag("load_in_4bit|_load_in_4bit", false);
  set_all(result, four ? grouped_format(ElementType::kInt4, 4, 64, 32, 0)
                       : per_row_format(ElementType::kInt8, 32));
}

void read_mxfp4(const Config&, Quantization& result) {
  set_all(result, grouped_format(ElementType::kFloat4E2M1, 4, 32, 8, 0));
  result.experts_only = true;
}

void read_mlx(const Config& config, Quantization& result) {
  set_all(result, grouped_format(ElementType::kInt4, bits_of(config, "bits", 4),
                                 group_of(config, "group_size", 64), 16, 16));
}

// ModelOpt's names of formats; false when unknown.
bool modelopt_format(std::string_view algorithm, uint32_t group, WeightFormat& format) {
  if (algorithm == "FP8" || algorithm == "FP8_DEFAULT") {
    format = per_tensor_format(ElementType::kFloat8E4M3);
  } else if (algorithm == "FP8_PER_CHANNEL_PER_TOKEN") {
    format = per_row_format(ElementType::kFloat8E4M3, 32);
  } else if (algorithm == "FP8_PB_WO") {
    format = per_tensor_format(ElementType::kFloat8E4M3);
    format.group = format.group_rows = 128;
  } else if (algorithm == "NVFP4" || algorithm == "W4A16_NVFP4" || algorithm == "NVFP4_AWQ") {
    format = grouped_format(ElementType::kFloat4E2M1, 4, group == 0 ? 16 : group, 8, 0);
  } else if (algorithm == "MXFP8") {
    format = grouped_format(ElementType::kFloat8E4M3, 8, 32, 8, 0);
  } else {
    return false;
  }
  return true;
}

QuantizedGroup& group_with(const WeightFormat& format, Quantization& result) {
  for (QuantizedGroup& group : result.groups) {
    if (group.format == format) return group;
  }
  result.groups.emplace_back();
  result.groups.back().format = format;
  return result.groups.back();
}

// get_kv_cache_quant_algo_string in vllm/utils/torch_utils.py: a scheme that it does not know
// counts for nothing, and neither does one in a config that does not name its method.
std::string modelopt_kv_scheme(const Config& config, const Config& part) {
  for (const char* key : {"kv_cache_scheme", "kv_cache_quant_algo"}) {
    for (const Config* from : {&part, &config}) {
      if (const auto scheme = from->nested(key)) {
        const uint64_t bits = scheme->count("num_bits", 32).value_or(0);
        if (scheme->text("type") != "float") return {};
        if (bits == 8 && !scheme->flag("dynamic", true)) return "fp8";
        return bits == 4 ? "nvfp4" : "";
      }
      const std::string name = lower(from->text(key));
      if (!name.empty()) return name == "fp8" || name == "nvfp4" ? name : "";
    }
  }
  return {};
}

void read_modelopt(const Config& config, Quantization& result) {
  const Config part = config.nested("quantization").value_or(config);
  const std::string algorithm = part.text("quant_algo");
  const auto group = static_cast<uint32_t>(part.count("group_size", kMaxGroup).value_or(0));
  WeightFormat format;
  const auto layers = part.nested("quantized_layers");
  if (layers && !layers->json().empty()) {
    for (const auto& [name, value] : layers->json().items()) {
      const auto layer = layers->nested(name);
      const auto layer_group =
          layer ? static_cast<uint32_t>(layer->count("group_size", kMaxGroup).value_or(group)) : 0;
      if (!layer || !modelopt_format(layer->text("quant_algo"), layer_group, format)) {
        return config.fail("quantized_layers: format of '" + name + "' is not understood");
      }
      group_with(format, result).targets.add(name);
    }
  } else if (modelopt_format(algorithm, group, format)) {
    set_all(result, format);
  } else if (const auto groups = config.nested("config_groups")) {
    read_groups(config, *groups, result);
  } else {
    return config.fail("quant_algo '" + algorithm + "' is not understood");
  }
  result.kv_cache_scheme = modelopt_kv_scheme(config, part);
}

// DeepSeek-V4 has experts in FP4 unless its config says FP8 (deepseek_v4/quant_config.py).
void read_expert_type(const Config& config, const Config& root, Quantization& result) {
  result.method = "deepseek_v4_fp8";
  const std::string type = root.text("expert_dtype");
  if (type == "fp8") return;
  if (!type.empty() && type != "fp4") root.fail("expert_dtype '" + type + "' is not understood");
  const uint32_t group = config.text("moe_quant_algo") == "NVFP4" ? 16 : 32;
  result.experts = grouped_format(ElementType::kFloat4E2M1, 4, group, 8, 0);
}

// Where the engine takes another method than the one that the checkpoint names
// (vllm/model_executor/models/config.py).
void replace_method(const Config& config, const Config& root, Quantization& result) {
  const std::string type = root.text("model_type");
  if (type == "deepseek_v4" && result.method == "fp8") read_expert_type(config, root, result);
  if (type == "kimi_k3" && config.text("format") == "mxfp4-pack-quantized") {
    result.method = "mxfp4";
    result.experts_only = true;
  }
}

constexpr std::string_view kIgnoredKeys =
    "modules_to_not_convert|ignored_layers|ignore|exclude_modules|llm_int8_skip_modules";

struct Method {
  std::string_view names;
  void (*read)(const Config&, Quantization&);
  std::string_view ignored_keys = kIgnoredKeys;
};
constexpr std::array<Method, 8> kMethods = {{
    {"fp8|deepseek_v4_fp8", read_fp8, "ignored_layers|modules_to_not_convert"},
    {"fbgemm_fp8", read_fbgemm},
    {"compressed-tensors|compressed_tensors", read_compressed},
    {"gptq|gptq_marlin|awq|awq_marlin|auto-round|auto_round|intel/auto-round|inc", read_packed},
    {"bitsandbytes", read_bitsandbytes},
    {"mxfp4|gpt_oss_mxfp4", read_mxfp4},
    {"modelopt|modelopt_fp4|modelopt_mixed", read_modelopt},
    {"mlx", read_mlx},
}};

std::string method_of(const Config& config) {
  const std::string method = lower(config.text("quant_method"));
  if (!method.empty()) return method;
  if (config.has("quant_algo") || config.nested("quantization") || config.nested("producer")) {
    return "modelopt";
  }
  return config.has("bits") && config.has("group_size") ? "mlx" : method;
}

void read_from(const Config& config, const Config& root, Quantization& result) {
  result.method = method_of(config);
  for (const Method& method : kMethods) {
    if (!listed(method.names, result.method)) continue;
    method.read(config, result);
    add_patterns(config.texts(method.ignored_keys), config, result.ignored);
    if (const auto part = config.nested("quantization")) {
      add_patterns(part->texts(method.ignored_keys), config, result.ignored);
    }
    replace_method(config, root, result);
    return;
  }
  root.fail("quantization_config.quant_method '" + result.method + "' is not understood");
}

}  // namespace

Quantization read_quantization(const Config& root, const Config& text_part,
                               std::string_view modelopt) {
  Quantization result;
  constexpr std::array<std::string_view, 3> kKeys = {"quantization_config", "compression_config",
                                                     "quantization"};
  for (const Config& config : {root, text_part}) {
    for (const std::string_view key : kKeys) {
      const auto block = config.nested(key);
      if (!block || block->json().empty()) continue;
      read_from(*block, root, result);
      const bool named = block->has("quant_method");
      if (result.method == "modelopt" && !named) result.kv_cache_scheme.clear();
      return result;
    }
  }
  if (modelopt.empty()) return result;
  const ParsedJson parsed = parse_json_object(modelopt);
  if (!parsed.error.empty()) {
    root.fail("hf_quant_config.json: " + parsed.error);
    return result;
  }
  std::string error;
  read_from(Config(parsed.value, error), root, result);
  if (!error.empty()) root.fail("hf_quant_config.json: " + error);
  return result;
}

}  // namespace kvbudget::models
