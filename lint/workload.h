// The load that a service is meant for, as the project file says it.
#pragma once

#include <optional>

namespace kvbudget {

/// What is absent was not said.
struct Workload {
  std::optional<double> concurrency;  ///< requests at once, over all replicas
  std::optional<double> prompt_tokens;
  std::optional<double> output_tokens;
  std::optional<double> shared_prefix_tokens;  ///< of the prompt, the same in every request
};

}  // namespace kvbudget
