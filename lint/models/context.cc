// vllm's _get_and_verify_max_len (vllm/config/model.py; vllm/config.py before 0.11), read from
// releases 0.2.7 to 0.33.0. What changed between them is the list of constants below.
#include "lint/models/context.h"

#include <algorithm>
#include <cmath>

namespace kvbudget {

using memory::ContextSource;
using memory::ModelShape;

namespace {

constexpr Version kModelMaxLengthKey{0, 4, 0};
constexpr Version kDisableSlidingWindow{0, 4, 3};
constexpr Version kLongropeKeepsLength{0, 5, 0};  // su, longrope and llama3 take no factor
constexpr Version kTargetPositionsKey{0, 7, 0};
constexpr Version kModelMaxLengthReplaces{0, 8, 0};
constexpr Version kGemma3KeepsLength{0, 8, 0};
constexpr Version kTokenizerLimit{0, 9, 0};
constexpr Version kLongropeStartsShort{0, 11, 0};
constexpr Version kYarnKeepsLength{0, 30, 0};
constexpr uint64_t kUnknownLength = 2048;

bool key_counts(const std::string& key, Version version) {
  if (key == "model_max_length") return version >= kModelMaxLengthKey;
  if (key == "max_target_positions") return version >= kTargetPositionsKey;
  return true;
}

bool is_yarn(const std::string& type) {
  return type == "yarn" || type == "deepseek_yarn" || type == "deepseek_llama_scaling";
}

// The factor that the engine multiplies the length by.
double length_factor(const ModelShape& model, Version version) {
  const std::string& type = model.context.rope_type;
  if (type.empty() || type == "default") return 1.0;
  if (type == "longrope") return 1.0;  // 0.4 spelt it su; no longrope model is older
  if (type == "llama3" && version >= kLongropeKeepsLength) return 1.0;
  if (version >= kGemma3KeepsLength && model.model_type.find("gemma3") != std::string::npos) {
    return 1.0;
  }
  if (is_yarn(type) && version >= kYarnKeepsLength) return 1.0;
  return model.context.rope_factor;
}

void apply_rope(const ModelShape& model, Version version, ContextLimit& limit) {
  const double factor = length_factor(model, version);
  if (factor == 1.0) return;
  uint64_t base = limit.limit_tokens;
  if (model.context.rope_type == "yarn") base = model.context.rope_original_length.value_or(base);
  limit.limit_tokens = static_cast<uint64_t>(static_cast<double>(base) * factor);
  std::string text = std::to_string(factor);
  text.erase(text.find_last_not_of('0') + 1);
  if (text.back() == '.') text.pop_back();
  limit.key += " with rope factor " + text;
}

void smallest_key(const ContextSource& context, Version version, ContextLimit& limit) {
  for (const auto& [key, tokens] : context.keys) {
    if (!key_counts(key, version) || (limit.known && tokens >= limit.limit_tokens)) continue;
    limit.key = key;
    limit.limit_tokens = tokens;
    limit.known = true;
  }
  if (version >= kModelMaxLengthReplaces && context.model_max_length.value_or(0) > 0) {
    limit.key = "model_max_length";
    limit.limit_tokens = *context.model_max_length;
    limit.known = true;
  }
}

void lower_to(uint64_t tokens, const char* key, ContextLimit& limit) {
  if (limit.known && tokens >= limit.limit_tokens) return;
  limit.key = key;
  limit.limit_tokens = tokens;
  limit.known = true;
}

}  // namespace

ContextLimit context_limit(const ModelShape& model, Version version, bool disable_sliding_window) {
  const ContextSource& context = model.context;
  ContextLimit limit;
  smallest_key(context, version, limit);
  if (disable_sliding_window && model.sliding_window > 0 && version >= kDisableSlidingWindow) {
    lower_to(model.sliding_window, "sliding_window", limit);
  }
  if (context.tokenizer_max_length && version >= kTokenizerLimit) {
    lower_to(*context.tokenizer_max_length, "model_max_length of tokenizer_config.json", limit);
  }
  if (!limit.known) limit.limit_tokens = kUnknownLength;
  apply_rope(model, version, limit);
  limit.default_tokens = limit.limit_tokens;
  if (context.rope_type == "longrope" && version >= kLongropeStartsShort) {
    limit.default_tokens = context.rope_original_length.value_or(limit.default_tokens);
  }
  if (version >= kModelMaxLengthKey) {  // a value up to this one is accepted too
    limit.limit_tokens = std::max(limit.limit_tokens, context.model_max_length.value_or(0));
  }
  return limit;
}

}  // namespace kvbudget
