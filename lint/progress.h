// How far a long run has come: one line on a terminal, written over again and wiped when all is
// read. Short runs show nothing.
#pragma once

#include <chrono>
#include <cstddef>
#include <functional>
#include <iosfwd>
#include <mutex>

namespace kvbudget {

class Progress {
 public:
  using Time = std::chrono::steady_clock::time_point;

  explicit Progress(
      std::ostream& out,
      std::function<Time()> now = [] { return std::chrono::steady_clock::now(); });

  /// `done` of `total` files were read. May be called by several threads at once.
  void show(size_t done, size_t total);

 private:
  std::ostream& out_;
  std::function<Time()> now_;
  std::mutex mutex_;
  Time next_;         // nothing is written before
  size_t shown_ = 0;  // highest count so far; threads arrive in any order
  bool visible_ = false;
};

}  // namespace kvbudget
