// A program of its own, without sanitizers, whose operator new counts its calls: the ledger takes
// its memory once, and no call of the hot path allocates.
#include <cstdio>
#include <cstdlib>
#include <new>
#include <vector>

#include "plugin/ledger/ledger.h"

namespace {

uint64_t allocations = 0;

}  // namespace

// Not inlined, or GCC sees free() beside operator new and warns.
[[gnu::noinline]] void* operator new(size_t bytes) {
  ++allocations;
  if (void* memory = std::malloc(bytes)) return memory;
  throw std::bad_alloc();
}
[[gnu::noinline]] void operator delete(void* memory) noexcept { std::free(memory); }
[[gnu::noinline]] void operator delete(void* memory, size_t) noexcept { std::free(memory); }

int main() {
  using namespace kvbudget;
  ledger::Limits limits;
  limits.capacity_blocks = 1'000;
  limits.budget_blocks = 1'000;
  limits.max_requests = 512;
  limits.max_hold_seconds = 100.0;
  ledger::Ledger ledger(limits);
  std::vector<uint64_t> keys(64);
  std::vector<ledger::Rejected> rejected(64);
  const uint64_t before = allocations;
  uint64_t promoted = 0;
  uint64_t stale = 0;
  for (uint64_t key = 0; key < 10'000; ++key) {
    const auto now = static_cast<double>(key);
    ledger.admit(key, 0, 1 + key % 30, 0, now);
    ledger.reconcile(key % 1'000, 10);
    promoted += ledger.promote(keys, now);
    ledger.resize(key, 5);
    ledger.next_held(keys);
    stale += ledger.reject_stale(rejected, now);
    const uint64_t done = key / 2;
    ledger.release({&done, 1});
    ledger.statistics();
  }
  const uint64_t during = allocations - before;
  std::printf("%llu allocations before, %llu during 10,000 requests; %llu promoted, %llu stale\n",
              static_cast<unsigned long long>(before), static_cast<unsigned long long>(during),
              static_cast<unsigned long long>(promoted), static_cast<unsigned long long>(stale));
  return before > 0 && during == 0 && promoted > 0 && stale > 0 ? 0 : 1;
}
