// The terms of estimates, each compared with the logs.
#pragma once

#include <functional>
#include <vector>

#include "lint/memory/estimate.h"
#include "tests/accuracy/observed.h"
#include "tests/accuracy/report.h"

namespace kvbudget::test {

struct Comparisons {
  Comparison weights{"weights (GiB)"};
  Comparison activation{"activation (GiB)"};
  Comparison non_torch{"non-torch (GiB)"};
  Comparison graphs{"CUDA graphs (GiB)"};
  Comparison kv_bytes{"KV bytes (GiB)"};
  Comparison tokens{"tokens"};
  Comparison concurrency{"concurrency"};

  std::vector<const Comparison*> all() const {
    return {&weights, &activation, &non_torch, &graphs, &kv_bytes, &tokens, &concurrency};
  }
};

using Runs = std::vector<const JudgedRun*>;
using Estimator = std::function<memory::Estimate(const JudgedRun&)>;

Runs core_runs();
Runs other_runs();
Runs other_dense_runs();

memory::Estimate own_estimate(const JudgedRun& run);

Comparisons compare(const Runs& runs, const Estimator& estimator);

}  // namespace kvbudget::test
