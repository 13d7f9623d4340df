// The ledger before a simulated engine, as the plugin puts it before a real one.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "lint/simulate/engine.h"
#include "plugin/ledger/ledger.h"
#include "plugin/ledger/output_lengths.h"

namespace kvbudget::simulate {

class Admission {
 public:
  Admission(Policy policy, const Engine& engine, uint64_t budget_blocks, size_t requests);

  ledger::Answer admit(uint32_t id, const TraceRequest& request, uint32_t max_tokens, double now);
  /// Held requests that may go now, given the blocks of the engine's pool.
  std::span<const uint32_t> promoted(uint64_t free_blocks, uint64_t held_blocks);
  /// The engine preempted a request, which keeps its reservation.
  void preempted() { lengths_.preempted(); }
  /// A request holds `blocks`, perhaps more than were reserved for it.
  void grow(uint32_t id, uint64_t blocks);
  void release(uint32_t id, uint64_t output_tokens);
  uint32_t pending() const;

 private:
  /// Blocks that a request is to reserve, as its answer is judged now.
  uint64_t blocks_for(uint32_t id) const;
  void promote_one_by_one();

  struct Asked {
    uint32_t prompt_tokens;
    uint32_t max_tokens;
  };

  Policy policy_;
  const Engine& engine_;
  std::optional<ledger::Ledger> ledger_;  ///< none for stock
  ledger::OutputLengths lengths_;
  std::vector<Asked> asked_;  ///< by id
  std::vector<uint64_t> keys_;
  std::vector<uint32_t> promoted_;
};

}  // namespace kvbudget::simulate
