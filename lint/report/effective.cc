#include "lint/report/effective.h"

#include <algorithm>

#include "lint/engine/resolve.h"
#include "lint/models/context.h"

namespace kvbudget {

namespace {

constexpr std::string_view kMemorySettings[] = {
    "block-size",
    "data-parallel-size",
    "dtype",
    "enable-chunked-prefill",
    "enable-prefix-caching",
    "enforce-eager",
    "gpu-memory-utilization",
    "kv-cache-dtype",
    "max-model-len",
    "max-num-batched-tokens",
    "max-num-seqs",
    "pipeline-parallel-size",
    "tensor-parallel-size",
};

}  // namespace

std::vector<std::pair<std::string, Setting>> effective_settings(const Deployment& deployment) {
  const auto& set = deployment.settings.all();
  std::vector<std::pair<std::string, Setting>> result(set.begin(), set.end());
  // The engine never sees them; they stand on its command line all the same.
  for (const WrapperFlag& flag : deployment.start.wrapper_flags) {
    const Location where = flag.value.location();
    if (!set.contains(flag.name)) {
      result.push_back({flag.name, {flag.value.str(), where, where, Origin::kFlag, flag.known}});
    }
  }
  ResolveInput input{deployment.settings, deployment.version};
  input.gpu = deployment.gpu ? &*deployment.gpu : nullptr;
  input.model = deployment.shape.get();
  if (input.model != nullptr) {
    input.default_max_model_len =
        context_limit(*input.model, deployment.version,
                      deployment.settings.is_true("disable-sliding-window"))
            .default_tokens;
  }
  for (const std::string_view name : kMemorySettings) {
    if (deployment.settings.has(name)) continue;
    Setting setting;
    setting.value = default_text(name, input);
    setting.origin = Origin::kDefault;
    if (!setting.value.empty()) result.emplace_back(name, std::move(setting));
  }
  std::sort(result.begin(), result.end(),
            [](const auto& a, const auto& b) { return a.first < b.first; });
  return result;
}

}  // namespace kvbudget
