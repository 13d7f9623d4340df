// Defaults as people read them: what resolve() computes where a default is computed, else what the
// parser yields.
#include <charconv>

#include "lint/engine/defaults.h"
#include "lint/engine/flags.h"
#include "lint/engine/resolve.h"

namespace kvbudget {
namespace {

std::string shortest(double value) {
  char buffer[32];
  const auto [end, error] = std::to_chars(buffer, buffer + sizeof(buffer), value);
  return {buffer, end};
}

std::string number(uint64_t value) { return value == 0 ? "" : std::to_string(value); }

std::string computed_text(std::string_view setting, const ResolveResult& result) {
  const memory::EngineSettings& engine = result.engine;
  const auto on = [](bool value) { return std::string(value ? "true" : "false"); };
  if (setting == "max-model-len") return number(engine.max_model_len);
  if (setting == "max-num-seqs") return number(engine.max_num_seqs);
  if (setting == "max-num-batched-tokens") return number(engine.max_num_batched_tokens);
  if (setting == "block-size") return number(engine.block_tokens);
  if (setting == "tensor-parallel-size") return number(engine.tensor_parallel);
  if (setting == "pipeline-parallel-size") return number(engine.pipeline_parallel);
  if (setting == "data-parallel-size") return number(engine.data_parallel);
  if (setting == "max-cudagraph-capture-size") return number(engine.max_cudagraph_size);
  if (setting == "gpu-memory-utilization") return shortest(engine.gpu_memory_utilization);
  if (setting == "dtype") return std::string(layout::name(engine.dtype));
  if (setting == "kv-cache-dtype") return engine.kv_cache_dtype;
  if (setting == "mamba-cache-mode") return engine.mamba_cache_mode;
  if (setting == "enable-chunked-prefill") return on(result.chunked_prefill);
  if (setting == "enable-prefix-caching") return on(engine.prefix_caching);
  if (setting == "async-scheduling") return on(engine.async_scheduling);
  if (setting == "disable-hybrid-kv-cache-manager") return on(!engine.hybrid_kv_cache_manager);
  return "";
}

}  // namespace

std::string default_text(std::string_view setting, const ResolveInput& input) {
  const Flag* const flag = find_flag(setting);
  if (flag && !flag_exists(*flag, input.version)) return "";
  if (std::string text = computed_text(setting, resolve(input)); !text.empty()) return text;
  if (!flag) return "";
  const std::string_view value = flag_default(*flag, input.version);
  if (value.empty() && flag_kind(*flag, input.version).is_switch()) return "false";
  const bool quoted = value.size() >= 2 && value.front() == '"';
  return std::string(quoted ? value.substr(1, value.size() - 2) : value);
}

}  // namespace kvbudget
