#include "plugin/ledger/request_table.h"

#include <bit>

namespace kvbudget::ledger {

RequestTable::RequestTable(uint32_t most)
    : slots_(most), index_(std::bit_ceil(size_t{most} * 2 + 2), kNoRequest) {
  for (uint32_t i = most; i-- > 0;) {
    slots_[i].after = free_;
    free_ = i;
  }
}

// Keys are a counter, whose neighbours should lie side by side, or hashes already; high bits are
// folded in for counters that step in powers of two.
size_t RequestTable::home(uint64_t key) const {
  return static_cast<size_t>(key ^ (key >> 20) ^ (key >> 40)) & (index_.size() - 1);
}

uint32_t RequestTable::find(uint64_t key) const {
  for (size_t at = home(key); index_[at] != kNoRequest; at = next(at)) {
    if (slots_[index_[at]].key == key) return index_[at];
  }
  return kNoRequest;
}

uint32_t RequestTable::insert(uint64_t key) {
  if (free_ == kNoRequest) return kNoRequest;
  const uint32_t slot = free_;
  free_ = slots_[slot].after;
  slots_[slot] = Request{};
  slots_[slot].key = key;
  size_t at = home(key);
  while (index_[at] != kNoRequest) at = next(at);
  index_[at] = slot;
  ++size_;
  return slot;
}

void RequestTable::erase(uint32_t slot) {
  size_t hole = home(slots_[slot].key);
  while (index_[hole] != slot) hole = next(hole);
  // Entries behind the hole move up when the hole lies between their home and them.
  for (size_t at = next(hole); index_[at] != kNoRequest; at = next(at)) {
    const size_t mask = index_.size() - 1;
    const size_t from_home = (at - home(slots_[index_[at]].key)) & mask;
    if (from_home < ((at - hole) & mask)) continue;
    index_[hole] = index_[at];
    hole = at;
  }
  index_[hole] = kNoRequest;
  slots_[slot].after = free_;
  free_ = slot;
  --size_;
}

}  // namespace kvbudget::ledger
