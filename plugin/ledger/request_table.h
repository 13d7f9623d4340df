// Requests by key: open addressing over slots that never move, so that queues can link them by
// index. Sized once.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

namespace kvbudget::ledger {

constexpr uint32_t kNoRequest = UINT32_MAX;

struct Request {
  uint64_t key = 0;
  uint64_t blocks = 0;
  double since = 0.0;  ///< seconds; of the hold
  uint32_t tenant = 0;
  int32_t priority = 0;
  bool held = false;
  uint32_t before = kNoRequest;  ///< in its tenant's queue; `after` links free slots too
  uint32_t after = kNoRequest;
};

class RequestTable {
 public:
  explicit RequestTable(uint32_t most);

  uint32_t find(uint64_t key) const;
  /// kNoRequest when `most` are there; the key must be new.
  uint32_t insert(uint64_t key);
  void erase(uint32_t index);

  Request& operator[](uint32_t index) { return slots_[index]; }
  const Request& operator[](uint32_t index) const { return slots_[index]; }
  uint32_t size() const { return size_; }

 private:
  size_t home(uint64_t key) const;
  size_t next(size_t at) const { return (at + 1) & (index_.size() - 1); }

  std::vector<Request> slots_;
  std::vector<uint32_t> index_;  ///< slot by hash; a power of two, at most half full
  uint32_t free_ = kNoRequest;
  uint32_t size_ = 0;
};

}  // namespace kvbudget::ledger
