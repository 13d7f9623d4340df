#include "lint/size.h"

#include <algorithm>
#include <optional>
#include <utility>

namespace kvbudget {
namespace {

constexpr uint32_t kTensorParallelSizes[] = {1, 2, 4, 8, 16};
constexpr ComputeCapability kFp8Capability{8, 9};  // every backend holds e4m3 from here on

/// In the order of what they cost: nothing, less room beside the engine, accuracy, both.
struct Variant {
  const char* utilization;  ///< null: the default
  bool fp8_cache;
};
constexpr Variant kVariants[] = {
    {nullptr, false}, {"0.95", false}, {nullptr, true}, {"0.95", true}};

EngineStart start_of(const SizeRequest& request, const Gpu& gpu, uint32_t size,
                     const Variant& variant) {
  std::vector<std::string> words = {"vllm",
                                    "serve",
                                    request.model,
                                    "--max-model-len",
                                    std::to_string(request.context_tokens),
                                    "--max-num-seqs",
                                    std::to_string(request.concurrency),
                                    "--tensor-parallel-size",
                                    std::to_string(size)};
  if (variant.utilization != nullptr) {
    words.insert(words.end(), {"--gpu-memory-utilization", variant.utilization});
  }
  if (variant.fp8_cache) words.insert(words.end(), {"--kv-cache-dtype", "fp8"});
  EngineStart start = read_command_line(words).starts.front();
  start.gpu.name = Located<std::string>{gpu.name, {}};
  start.gpu.count = Located<uint32_t>{size, {}};
  return start;
}

bool serves(const Deployment& d, const SizeRequest& request) {
  return d.estimate && d.estimate->verdict == memory::Verdict::kStarts &&
         d.estimate->low.max_concurrency >= request.concurrency;
}

std::optional<Deployment> smallest_on(const Gpu& gpu, const SizeRequest& request,
                                      const Resolver& resolve) {
  for (const uint32_t size : kTensorParallelSizes) {
    if (size > 1 && gpu.is_slice()) break;
    for (const Variant& variant : kVariants) {
      if (variant.fp8_cache && gpu.capability < kFp8Capability) continue;
      Deployment d = resolve(start_of(request, gpu, size, variant));
      if (serves(d, request)) return d;
      if (!d.estimate || d.estimate->obstacle == memory::Obstacle::kHeadsNotDivisible) break;
    }
  }
  return std::nullopt;
}

bool is_smaller(const Deployment& a, const Deployment& b) {
  return std::pair(a.gpu_count, a.gpu->memory_bytes) < std::pair(b.gpu_count, b.gpu->memory_bytes);
}

}  // namespace

SizeResult find_sizes(const SizeRequest& request, const Resolver& resolve) {
  SizeResult result;
  const std::span<const Gpu> cards = all_gpus();
  const Deployment first = resolve(start_of(request, cards.front(), 1, kVariants[0]));
  if (!first.estimate) {
    result.error =
        first.missing.empty() ? "the model keeps no KV cache" : first.missing.front().detail;
    return result;
  }
  if (first.estimate->obstacle == memory::Obstacle::kLengthAboveModel) {
    result.error = first.estimate->because;
    return result;
  }
  for (const Gpu& gpu : cards) {
    if (!request.gpu.empty() && gpu.name != request.gpu) continue;
    if (auto option = smallest_on(gpu, request, resolve))
      result.options.push_back(std::move(*option));
  }
  std::stable_sort(result.options.begin(), result.options.end(), is_smaller);
  return result;
}

}  // namespace kvbudget
