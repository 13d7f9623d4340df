// Condition words of data/defaults.tsv:
//   any, v0, v1                       the engine generation
//   mem>=70GiB, mem<160GiB            the GPU's memory (a GPU that is not known is small)
//   cc<8.0, cc=9, cc=12.1             CUDA compute capability
//   name:a100                         part of the GPU's device name
//   mla, state-layers, attention-free, encoder-decoder, chunked-attention, sliding, multimodal,
//   pooling, bf16, checkpoint-kv      what the model is
//   arch:X, arch-has:X, type:X, quant:X   its architecture, that class's flags, model type, method
//   use:offline, use:other            the class LLM; neither that nor a server
//   speculation, speculation:X, chunked-prefill, prefix-caching, kv-fp8, pp>1, dp>1, longest>N,
//   block%N (no multiple of N)        what is decided already
//   flag, flag=value, VLLM_X, VLLM_X=1    what is set
#include "lint/engine/defaults.h"

#include <algorithm>
#include <array>

#include "lint/engine/architectures.h"
#include "lint/engine/flags.h"
#include "lint/engine/numbers.h"
#include "lint/engine/table.h"
#include "lint/read/text.h"

namespace kvbudget {
namespace {

using memory::CacheKind;

bool has_layers(const DefaultFacts& facts, CacheKind kind) {
  return facts.model && facts.model->has_cache(kind);
}

bool is_attention_free(const DefaultFacts& facts) {
  if (!facts.model || facts.model->caches.empty()) return false;
  const auto& caches = facts.model->caches;
  return std::all_of(caches.begin(), caches.end(), [](const memory::LayerCache& cache) {
    return cache.kind == CacheKind::kMamba;
  });
}

struct Predicate {
  std::string_view word;
  bool (*holds)(const DefaultFacts&);
};

constexpr std::array kPredicates = {
    Predicate{"any", [](const DefaultFacts&) { return true; }},
    Predicate{"v0", [](const DefaultFacts& f) { return !f.v1; }},
    Predicate{"v1", [](const DefaultFacts& f) { return f.v1; }},
    Predicate{"use:offline",
              [](const DefaultFacts& f) { return f.settings.use == EngineUse::kOffline; }},
    Predicate{"use:other",
              [](const DefaultFacts& f) {
                return f.settings.use == EngineUse::kBatch ||
                       f.settings.use == EngineUse::kEmbedded;
              }},
    Predicate{"mla", [](const DefaultFacts& f) { return has_layers(f, CacheKind::kMla); }},
    Predicate{"state-layers",
              [](const DefaultFacts& f) { return has_layers(f, CacheKind::kMamba); }},
    Predicate{"attention-free", is_attention_free},
    Predicate{"encoder-decoder",
              [](const DefaultFacts& f) { return has_layers(f, CacheKind::kCross); }},
    Predicate{"chunked-attention",
              [](const DefaultFacts& f) { return has_layers(f, CacheKind::kChunked); }},
    Predicate{"sliding", [](const DefaultFacts& f) { return has_layers(f, CacheKind::kSliding); }},
    Predicate{"multimodal", [](const DefaultFacts& f) { return f.model && f.model->multimodal; }},
    Predicate{"pooling", [](const DefaultFacts& f) { return f.model && !f.model->generates; }},
    Predicate{"bf16",
              [](const DefaultFacts& f) {
                return f.model && f.model->dtype == memory::ElementType::kBFloat16;
              }},
    Predicate{"checkpoint-kv",
              [](const DefaultFacts& f) { return f.model && !f.model->kv_cache_scheme.empty(); }},
    Predicate{"speculation", [](const DefaultFacts& f) { return !f.speculation.empty(); }},
    Predicate{"chunked-prefill", [](const DefaultFacts& f) { return f.chunked_prefill; }},
    Predicate{"prefix-caching", [](const DefaultFacts& f) { return f.prefix_caching; }},
    Predicate{"kv-fp8", [](const DefaultFacts& f) { return f.kv_cache_dtype.starts_with("fp8"); }},
    Predicate{"pp>1", [](const DefaultFacts& f) { return f.pipeline_parallel > 1; }},
    Predicate{"dp>1", [](const DefaultFacts& f) { return f.data_parallel > 1; }},
};

// `word` behind `prefix`, when it begins with it.
std::optional<std::string_view> after(std::string_view word, std::string_view prefix) {
  if (!word.starts_with(prefix)) return std::nullopt;
  return word.substr(prefix.size());
}

uint64_t gib(std::string_view text) {
  if (text.ends_with("GiB")) text.remove_suffix(3);
  return static_cast<uint64_t>(python_int(text).value_or(0)) << 30U;
}

// "9" is every 9.x, "12.1" exactly that, "<8.0" everything before.
bool capability_holds(std::string_view text, const DefaultFacts& facts) {
  if (!facts.gpu || facts.gpu->vendor != "nvidia") return false;
  const ComputeCapability have = facts.gpu->capability;
  const bool below = text.front() == '<';
  const std::vector<std::string_view> numbers = split(text.substr(1), '.');
  const auto major = static_cast<uint8_t>(python_int(numbers[0]).value_or(0));
  if (numbers.size() == 1) return have.major == major;
  const ComputeCapability wanted{major, static_cast<uint8_t>(python_int(numbers[1]).value_or(0))};
  return below ? have < wanted : have == wanted;
}

std::optional<bool> gpu_condition(std::string_view word, const DefaultFacts& facts) {
  if (const auto size = after(word, "mem>=")) {
    return facts.gpu && facts.gpu->memory_bytes >= gib(*size);
  }
  if (const auto size = after(word, "mem<")) {
    return !facts.gpu || facts.gpu->memory_bytes < gib(*size);
  }
  if (const auto text = after(word, "cc")) return capability_holds(*text, facts);
  if (const auto text = after(word, "name:")) {
    return facts.gpu && lower(facts.gpu->device_name).find(*text) != std::string::npos;
  }
  return std::nullopt;
}

std::optional<bool> model_condition(std::string_view word, const DefaultFacts& facts) {
  const memory::ModelShape* const model = facts.model;
  if (const auto name = after(word, "arch:")) return model && model->architecture == *name;
  if (const auto name = after(word, "type:")) return model && model->model_type == *name;
  if (const auto name = after(word, "quant:")) {
    return model && model->quantization.starts_with(*name);
  }
  if (const auto flag = after(word, "arch-has:")) {
    const Architecture* const known = model ? find_architecture(model->architecture) : nullptr;
    return known && known->has(*flag);
  }
  return std::nullopt;
}

// The eagle family drafts with the model's own hidden states; MTP layers belong to it.
bool speculates_with(std::string_view method, std::string_view wanted) {
  if (wanted != "eagle") return method == wanted;
  return method.starts_with("eagle") || method == "mtp" || method.ends_with("_mtp");
}

std::optional<bool> decided_condition(std::string_view word, const DefaultFacts& facts) {
  if (const auto method = after(word, "speculation:")) {
    return speculates_with(facts.speculation, *method);
  }
  if (const auto number = after(word, "longest>")) {
    return facts.max_model_len > static_cast<uint64_t>(python_int(*number).value_or(0));
  }
  if (const auto number = after(word, "block%")) {
    return facts.block_tokens % static_cast<uint64_t>(python_int(*number).value_or(1)) != 0;
  }
  return std::nullopt;
}

std::optional<bool> set_condition(std::string_view word, const DefaultFacts& facts) {
  const size_t equals = word.find('=');
  const std::string_view name = word.substr(0, equals);
  const bool variable = name.starts_with("VLLM_");
  if (!variable && !find_flag(name)) return std::nullopt;
  const Setting* const setting =
      variable ? facts.settings.environment(name) : facts.settings.find(name);
  if (equals == std::string_view::npos) return setting != nullptr;
  return setting && setting->known && lower(setting->value) == lower(word.substr(equals + 1));
}

bool row_holds(const DefaultRow& row, const DefaultFacts& facts) {
  if (row.since && facts.version < *row.since) return false;
  if (row.removed && facts.version >= *row.removed) return false;
  const std::vector<std::string_view> words = split(row.conditions, ' ');
  return std::all_of(words.begin(), words.end(), [&](std::string_view word) {
    return condition_holds(word, facts).value_or(false);
  });
}

}  // namespace

const std::vector<DefaultRow>& default_rows() {
  static const std::vector<DefaultRow> rows = [] {
    std::vector<DefaultRow> parsed;
    for (const TableRow& row : read_engine_table("defaults.tsv", 6)) {
      parsed.push_back(
          {row[0], parse_version(row[1]), parse_version(row[2]), row[3], row[4], row[5]});
    }
    return parsed;
  }();
  return rows;
}

std::optional<bool> condition_holds(std::string_view word, const DefaultFacts& facts) {
  if (const auto positive = after(word, "!")) {
    const std::optional<bool> holds = condition_holds(*positive, facts);
    return holds ? std::optional(!*holds) : std::nullopt;
  }
  for (const Predicate& predicate : kPredicates) {
    if (predicate.word == word) return predicate.holds(facts);
  }
  for (const auto& condition : {gpu_condition, model_condition, decided_condition}) {
    if (const std::optional<bool> holds = condition(word, facts)) return holds;
  }
  return set_condition(word, facts);
}

std::optional<std::string_view> default_value(std::string_view setting, const DefaultFacts& facts) {
  std::optional<std::string_view> value;
  for (const DefaultRow& row : default_rows()) {
    if (row.setting == setting && row_holds(row, facts)) value = row.value;
  }
  return value;
}

std::optional<std::string_view> forced_value(std::string_view setting, const DefaultFacts& facts) {
  return default_value(std::string(setting) + "!", facts);
}

}  // namespace kvbudget
