#include "kernels/common/parallel_for.h"

#include <algorithm>
#include <atomic>
#include <system_error>
#include <thread>
#include <vector>

namespace kvbudget::kernels {

int32_t thread_count(int32_t num_threads) {
  if (num_threads > 0) return num_threads;
  return std::max(1, static_cast<int32_t>(std::thread::hardware_concurrency()));
}

void parallel_for(int32_t num_threads, int64_t num_tasks,
                  const std::function<void(int64_t)>& task) {
  std::atomic<int64_t> next{0};
  const auto work = [&] {
    for (int64_t i = next++; i < num_tasks; i = next++) task(i);
  };
  const int64_t threads = std::min<int64_t>(thread_count(num_threads), num_tasks);
  std::vector<std::thread> helpers;
  for (int64_t i = 1; i < threads; ++i) {
    try {
      helpers.emplace_back(work);
    } catch (const std::system_error&) {
      break;  // the threads there are do all the work
    }
  }
  work();
  for (std::thread& helper : helpers) helper.join();
}

}  // namespace kvbudget::kernels
