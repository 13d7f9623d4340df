// Runs numbered tasks on a few threads that live for the call: no pool, so no state. Tasks are
// taken one at a time from a counter, which evens out unequal ones.
#pragma once

#include <cstdint>
#include <functional>

namespace kvbudget::kernels {

/// `num_threads` 0 means all the machine has; never more than there are tasks.
void parallel_for(int32_t num_threads, int64_t num_tasks, const std::function<void(int64_t)>& task);

int32_t thread_count(int32_t num_threads);  ///< resolves 0

}  // namespace kvbudget::kernels
