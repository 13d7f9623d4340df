// Work on independent items by several threads.
#pragma once

#include <cstddef>
#include <functional>

namespace kvbudget {

/// Threads that this machine runs at once, at least 1.
unsigned hardware_threads();

/// Calls `work(i)` once for each i below `count`, on up to `threads` threads, and returns when all
/// are done. The first exception is thrown on.
void for_each_index(size_t count, unsigned threads, const std::function<void(size_t)>& work);

}  // namespace kvbudget
