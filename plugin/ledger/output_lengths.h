// How long answers really are, learned as they end: what optimistic mode reserves in place of the
// max_tokens that clients ask for.
//
// A quantile of the last answers is assumed. It can be a low one, since requests that run side by
// side are at different points of their answers and grow into what others give back; how low is
// found by control: every preemption raises it, every answer lowers it a little, so that about
// kPreemptionRate of the answers are preempted.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

namespace kvbudget::ledger {

class OutputLengths {
 public:
  /// An answer has ended with so many tokens.
  void add(uint64_t tokens);
  /// The engine preempted a request: too little was assumed.
  void preempted();
  /// At most `max_tokens`; all of them until enough answers were seen.
  uint64_t assumed(uint64_t max_tokens) const;

 private:
  static constexpr double kLowest = 0.25;
  static constexpr double kHighest = 0.95;
  static constexpr double kPreemptionRate = 0.002;
  static constexpr double kStep = 0.003;
  static constexpr size_t kBuckets = 256;  ///< eight to a factor of two
  static size_t bucket_of(uint64_t tokens);
  static uint64_t upper_end(size_t bucket);

  double quantile_ = kLowest;
  std::array<uint32_t, kBuckets> counts_{};
  uint64_t total_ = 0;
};

}  // namespace kvbudget::ledger
