// Words that one writer replaces together and any number of readers in other processes read
// together, without locks: a reader that meets a change reads again.
//
// Every word is atomic and none is ordered by a fence alone, so that ThreadSanitizer can follow it:
// the count is odd while words change; a reader that sees a new word (acquire) must see the odd
// count that was stored before it (release). H.-J. Boehm, "Can seqlocks get along with programming
// language memory models?", MSPC 2012.
#pragma once

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <span>

namespace kvbudget::shm {

template <size_t kWords>
class SequenceLock {
 public:
  static_assert(std::atomic<uint64_t>::is_always_lock_free);

  void write(std::span<const uint64_t, kWords> words) {
    const uint64_t count = count_.load(std::memory_order_relaxed);
    count_.store(count + 1, std::memory_order_relaxed);
    for (size_t i = 0; i < kWords; ++i) words_[i].store(words[i], std::memory_order_release);
    count_.store(count + 2, std::memory_order_release);
  }

  /// False when `attempts` all met a change: the writer is very busy, or died at it.
  bool read(std::span<uint64_t, kWords> words, int attempts) const {
    for (int attempt = 0; attempt < attempts; ++attempt) {
      const uint64_t before = count_.load(std::memory_order_acquire);
      if (before % 2 == 1) continue;
      for (size_t i = 0; i < kWords; ++i) words[i] = words_[i].load(std::memory_order_acquire);
      if (count_.load(std::memory_order_relaxed) == before) return true;
    }
    return false;
  }

 private:
  std::atomic<uint64_t> count_{0};
  std::array<std::atomic<uint64_t>, kWords> words_{};
};

}  // namespace kvbudget::shm
