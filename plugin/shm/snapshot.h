// A ledger's figures in POSIX shared memory: one segment for each data-parallel rank, written by
// the engine's process after each step and read by whatever exports or limits by them.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <type_traits>
#include <vector>

namespace kvbudget::shm {

struct Tenant {
  char name[48] = {};  ///< cut off, ends in 0
  uint64_t reserved_blocks = 0;
  uint64_t min_blocks = 0;
  uint64_t max_blocks = 0;
  uint64_t admitted = 0;
  uint64_t pending = 0;
  uint64_t most_blocks = 0;  ///< of a request that may ever go
};

constexpr uint32_t kMaxTenants = 64;  ///< more are counted and not listed
constexpr uint32_t kReasons = 16;     ///< room for more than there are

/// What the engine's side of the ledger says of itself, in words that only the two ends know.
constexpr size_t kEngineWords = 48;

struct Figures {
  uint64_t tenants = 0;  ///< listed
  uint64_t capacity_blocks = 0;
  uint64_t budget_blocks = 0;
  uint64_t reserved_blocks = 0;
  uint64_t late_blocks = 0;
  uint64_t peak_reserved_blocks = 0;
  uint64_t admitted = 0;
  uint64_t pending = 0;
  uint64_t admitted_total = 0;
  uint64_t held_total = 0;
  uint64_t promoted_total = 0;
  uint64_t rejected_total = 0;
  uint64_t rejected_for[kReasons] = {};
  uint64_t released_total = 0;
  double hold_seconds_total = 0.0;
  double oldest_since = 0.0;
  uint64_t max_pending = 0;
  double max_hold_seconds = 0.0;
  uint64_t engine[kEngineWords] = {};
  Tenant tenant[kMaxTenants];
};
static_assert(std::is_trivially_copyable_v<Figures> && sizeof(Figures) % sizeof(uint64_t) == 0);

struct Segment;

/// The writer's end; the segment goes away with it.
class Publisher {
 public:
  /// Null when the segment cannot be made; errno says why. A segment of that name whose writer is
  /// dead is taken over, one whose writer lives is not (EEXIST).
  static std::unique_ptr<Publisher> create(const std::string& name);
  ~Publisher();
  Publisher(const Publisher&) = delete;
  Publisher& operator=(const Publisher&) = delete;

  void publish(const Figures& figures);

 private:
  Publisher(std::string name, Segment* segment) : name_(std::move(name)), segment_(segment) {}
  std::string name_;
  Segment* segment_;
};

enum class ReadStatus { kOk, kNotFound, kNotOurs, kBusy, kFailed };

/// Reads the segment `name`; `pid` is the writer's process.
ReadStatus read_snapshot(const std::string& name, Figures& figures, uint64_t& pid);
/// False when there is no such segment.
bool unlink_snapshot(const std::string& name);

}  // namespace kvbudget::shm
