// What PyTorch's CUDA caching allocator books for a tensor: "model loading took X GiB" in vLLM's
// log is the sum of these, not of the tensors' sizes.
//
// Source: c10/cuda/CUDACachingAllocator.cpp (kMinBlockSize, kSmallSize, kRoundLarge, should_split),
// torch 2.1 to 2.13. A request of 10 MiB or more gets a segment of its own, rounded up to 2 MiB,
// and is cut from it only when more than 1 MiB would be left. Seen in runs: 28 layers of Qwen2.5-7B
// book 0.055 GiB more than their tensors hold.
#pragma once

#include "lint/memory/round_up.h"

namespace kvbudget::memory {

inline uint64_t torch_allocated(uint64_t tensor_bytes) {
  constexpr uint64_t kMinBlock = 512;
  constexpr uint64_t kOwnSegment = 10 * kMiB;
  constexpr uint64_t kSegmentStep = 2 * kMiB;
  constexpr uint64_t kSplitAbove = 1 * kMiB;
  const uint64_t size = round_up(tensor_bytes, kMinBlock);
  if (size < kOwnSegment) return size;
  const uint64_t segment = round_up(size, kSegmentStep);
  return segment - size <= kSplitAbove ? segment : size;
}

}  // namespace kvbudget::memory
