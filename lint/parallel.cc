#include "lint/parallel.h"

#include <algorithm>
#include <atomic>
#include <exception>
#include <mutex>
#include <thread>
#include <vector>

namespace kvbudget {

unsigned hardware_threads() { return std::max(std::thread::hardware_concurrency(), 1U); }

void for_each_index(size_t count, unsigned threads, const std::function<void(size_t)>& work) {
  std::atomic<size_t> next{0};
  std::mutex mutex;
  std::exception_ptr failure;
  const auto run = [&] {
    for (size_t i = next++; i < count; i = next++) {
      try {
        work(i);
      } catch (...) {
        const std::lock_guard lock(mutex);
        if (!failure) failure = std::current_exception();
        next = count;
      }
    }
  };
  const auto helpers = static_cast<size_t>(std::max(threads, 1U)) - 1;
  std::vector<std::thread> pool;
  for (size_t i = 0; i < std::min(helpers, count > 0 ? count - 1 : 0); ++i) pool.emplace_back(run);
  run();
  for (std::thread& thread : pool) thread.join();
  if (failure) std::rethrow_exception(failure);
}

}  // namespace kvbudget
