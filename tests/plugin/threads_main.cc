// A program of its own, built with ThreadSanitizer: what a sequence lock hands over is whole.
#include <cstdio>
#include <thread>
#include <vector>

#include "plugin/shm/sequence_lock.h"

int main() {
  constexpr size_t kWords = 64;
  constexpr uint64_t kWrites = 20'000;
  kvbudget::shm::SequenceLock<kWords> lock;
  std::atomic<bool> done{false};
  std::atomic<uint64_t> whole{0};
  std::atomic<uint64_t> torn{0};
  std::vector<std::thread> readers;
  for (int i = 0; i < 3; ++i) {
    readers.emplace_back([&] {
      std::array<uint64_t, kWords> words{};
      do {
        if (!lock.read(words, 100)) continue;
        bool same = true;
        for (const uint64_t word : words) same = same && word == words[0];
        (same ? whole : torn).fetch_add(1);
      } while (!done.load());
    });
  }
  std::array<uint64_t, kWords> words{};
  for (uint64_t value = 1; value <= kWrites; ++value) {
    words.fill(value);
    lock.write(words);
  }
  done.store(true);
  for (std::thread& reader : readers) reader.join();
  std::printf("%llu readings whole, %llu torn\n", static_cast<unsigned long long>(whole.load()),
              static_cast<unsigned long long>(torn.load()));
  return torn.load() == 0 && whole.load() > 0 ? 0 : 1;
}
