// The load that a service is meant for, and what its users may expect: from the project file, or
// from the annotation `kvbudget.io/workload` of a Kubernetes workload.
#pragma once

#include <optional>
#include <vector>

#include "lint/read/document.h"

namespace kvbudget {

/// What is absent was not said.
struct Workload {
  std::optional<double> concurrency;  ///< requests at once, over all replicas
  std::optional<double> prompt_tokens;
  std::optional<double> output_tokens;
  std::optional<double> prompt_tokens_p95;
  std::optional<double> output_tokens_p95;
  std::optional<double> shared_prefix_tokens;  ///< of the prompt, the same in every request
  std::optional<double> ttft_seconds;          ///< target: until the first token
  std::optional<double> tokens_per_second;     ///< target: of one request
  std::optional<double> load_gib_per_second;   ///< at which a start reads its weights
};

/// Reads the keys of a mapping; what is wrong is added to `faults` and left out of the workload.
void read_workload(const Node& mapping, Workload& workload, std::vector<SyntaxError>& faults);
/// The same of the text of an annotation: a YAML mapping, or its entries with commas between them.
void read_workload(const SourceText& annotation, Workload& workload,
                   std::vector<SyntaxError>& faults);

/// What `from` says replaces what `into` says.
void merge(Workload& into, const Workload& from);

}  // namespace kvbudget
