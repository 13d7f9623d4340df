#include "plugin/ledger/output_lengths.h"

#include <algorithm>
#include <bit>

namespace kvbudget::ledger {
namespace {

constexpr uint32_t kSteps = 8;  // buckets to a factor of two

}  // namespace

// Below 8 every length has a bucket of its own.
size_t OutputLengths::bucket_of(uint64_t tokens) {
  if (tokens < kSteps) return static_cast<size_t>(tokens);
  const auto exponent = static_cast<uint32_t>(std::bit_width(tokens)) - 1;
  const uint64_t step = (tokens >> (exponent - 3)) & (kSteps - 1);
  return std::min<size_t>(kBuckets - 1, size_t{exponent - 2} * kSteps + step);
}

uint64_t OutputLengths::upper_end(size_t bucket) {
  if (bucket < kSteps) return bucket;
  const size_t exponent = bucket / kSteps + 2;
  return ((kSteps + bucket % kSteps + 1) << (exponent - 3)) - 1;
}

// Old answers fade: halving keeps the counts small and the estimate of this day.
void OutputLengths::add(uint64_t tokens) {
  constexpr uint64_t kWindow = 4'096;
  quantile_ = std::max(kLowest, quantile_ - kStep * kPreemptionRate);
  ++counts_[bucket_of(tokens)];
  if (++total_ < kWindow) return;
  total_ = 0;
  for (uint32_t& count : counts_) {
    count /= 2;
    total_ += count;
  }
}

void OutputLengths::preempted() { quantile_ = std::min(kHighest, quantile_ + kStep); }

uint64_t OutputLengths::assumed(uint64_t max_tokens) const {
  constexpr uint64_t kEnough = 32;
  if (total_ < kEnough) return max_tokens;
  const auto wanted = static_cast<uint64_t>(quantile_ * static_cast<double>(total_));
  uint64_t seen = 0;
  for (size_t bucket = 0; bucket < kBuckets; ++bucket) {
    seen += counts_[bucket];
    if (seen > wanted) return std::min(max_tokens, upper_end(bucket));
  }
  return max_tokens;
}

}  // namespace kvbudget::ledger
