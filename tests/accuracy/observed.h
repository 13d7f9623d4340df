// Measured runs of real engines (fixtures/observed/runs.jsonl) and what we say of them.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "lint/deployment.h"

namespace kvbudget::test {

/// One start-up log. Figures are as logged: GiB with two decimals.
struct ObservedRun {
  std::string id;
  std::string model;
  std::string config;       ///< name of the config.json in the collection of measured models
  bool shape_only = false;  ///< that config is right for the cache, not for the weights
  std::string engine;
  std::string gpu;
  uint32_t gpus = 1;
  std::vector<std::string> argv;
  std::vector<std::pair<std::string, std::string>> env;
  std::vector<std::string> usable_for;    ///< what the inputs determine: "weights", "kv_bytes", …
  std::string outcome;                    ///< "ok", "kv_too_small", "oom_load", …
  std::optional<std::string> or_outcome;  ///< where the source leaves two open
  std::optional<double> weights_gib, activation_gib, non_torch_gib, graph_gib, kv_available_gib,
      needed_kv_gib, max_concurrency;
  std::optional<uint64_t> blocks, kv_tokens, est_max_len;
  bool kv_of_other_rank = false;  ///< the printed cache is not that of the rank that decides

  bool usable(std::string_view what) const;
  /// Runs of one release on one kind of card, logged in full: the yardstick of the memory model.
  bool in_core_set() const { return id.starts_with("h100-") || id.starts_with("sweep-"); }
};

/// Releases 0.6 to 0.33; older ones are kept as data only.
std::vector<ObservedRun> observed_runs();

/// Our answer for a run, from its command line alone. Configs come from the shared collection where
/// there is one, else from the built-in catalogue; nullopt when neither knows the model.
std::optional<Deployment> judge(const ObservedRun& run);

struct JudgedRun {
  ObservedRun run;
  Deployment deployment;
};

struct Collection {
  std::vector<JudgedRun> judged;     ///< with an estimate
  std::vector<JudgedRun> unplaced;   ///< with a shape, on a card that the source does not name
  std::vector<std::string> unknown;  ///< "id: why there is no estimate"
};

/// Every run, judged once.
const Collection& collection();

}  // namespace kvbudget::test
