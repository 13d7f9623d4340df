// Who may use how many KV blocks: an account of reservations over the pool of one engine.
//
// A request is admitted when the blocks of its whole life fit beside those of every request
// admitted before; then the engine's own allocation cannot fail for it and nothing is ever
// preempted. What does not fit now is held, what can never fit is told so at once. Tenants share
// the pool by weight, between a minimum that stays theirs and a maximum.
//
//   charge    = sum of reservations + late frees
//   late      = blocks in use - blocks that live requests hold   (frees that the engine defers)
//   available = budget - charge - what other tenants' minima keep
//
// Late frees are added, not taken as a maximum: blocks can be late while others are still to be
// allocated. Deterministic: the same calls give the same answers, so that a log can be replayed.
// One thread calls it. Memory is taken once, by the constructor; no call allocates.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "plugin/ledger/request_table.h"

namespace kvbudget::ledger {

enum class Mode : uint8_t {
  kOptimistic,  ///< minima may be borrowed while their tenant has nothing waiting
  kStrict,      ///< minima are kept free for their tenants
};

enum class Answer : uint8_t {
  kAdmit,  ///< the blocks are reserved until release
  kHold,   ///< waits for others to finish; promote() says when
  kNever,  ///< it would wait for ever; see Reason
};

enum class Reason : uint8_t {
  kNone,
  kAboveBudget,       ///< more blocks than the budget has
  kAboveTenantMax,    ///< more than its tenant may ever have
  kAboveTenantShare,  ///< more than the other tenants' minima leave
  kPendingFull,       ///< max_pending requests wait already
  kHeldTooLong,       ///< waited for max_hold_seconds
  kTooManyRequests,   ///< max_requests are known already
  kKnownKey,          ///< a live request has this key
  kUnknownTenant,
};
constexpr size_t kReasons = 9;
const char* reason_name(Reason reason);

struct Limits {
  uint64_t capacity_blocks = 0;  ///< that the engine can hand out (the null block is not one)
  uint64_t budget_blocks = 0;    ///< of them; at most the capacity counts
  Mode mode = Mode::kStrict;
  uint32_t max_requests = 65'536;  ///< known at once, admitted and held
  uint32_t max_tenants = 64;
  uint32_t max_pending = 0;       ///< held at once; 0: as many as max_requests
  double max_hold_seconds = 0.0;  ///< 0: for ever
};

struct TenantLimits {
  double weight = 1.0;      ///< shares of what is contended are in proportion to it; above 0
  uint64_t min_blocks = 0;  ///< that others leave to it
  uint64_t max_blocks = UINT64_MAX;
};

struct TenantState {
  std::string name;
  TenantLimits limits;
  uint64_t reserved_blocks = 0;
  uint32_t admitted = 0;  ///< requests
  uint32_t pending = 0;
};

struct Statistics {
  uint64_t capacity_blocks = 0;
  uint64_t budget_blocks = 0;
  uint64_t reserved_blocks = 0;
  uint64_t late_blocks = 0;
  uint64_t peak_reserved_blocks = 0;
  uint32_t admitted = 0;  ///< requests, now
  uint32_t pending = 0;
  uint64_t admitted_total = 0;  ///< since the start
  uint64_t held_total = 0;
  uint64_t promoted_total = 0;  ///< held, and admitted then
  uint64_t rejected_total = 0;
  std::array<uint64_t, kReasons> rejected_for{};  ///< by reason
  uint64_t released_total = 0;
  double hold_seconds_total = 0.0;  ///< of held requests that were then admitted
  double oldest_since = 0.0;        ///< when the longest held of those next to go came; 0: none
};

struct Decision {
  Answer answer = Answer::kNever;
  Reason reason = Reason::kNone;
};

struct Rejected {
  uint64_t key = 0;
  Reason reason = Reason::kNone;
};

class Ledger {
 public:
  /// Why these limits cannot work, naming the value; empty when they can.
  static std::string problem_with(const Limits& limits);
  explicit Ledger(const Limits& limits);

  static constexpr uint32_t kDefaultTenant = 0;
  /// The index of a new tenant, or of the known one whose limits are now these. UINT32_MAX where
  /// max_tenants are there, a weight is not above 0, a minimum is above its maximum, or the minima
  /// together are above the budget.
  uint32_t tenant(const std::string& name, const TenantLimits& limits);

  /// `key` names the request until release; `blocks` are those of its whole life. Smaller
  /// `priority` goes first, as in vLLM; equal ones in order of arrival. `now` in seconds never goes
  /// back.
  Decision admit(uint64_t key, uint32_t tenant, uint64_t blocks, int32_t priority, double now);

  /// Raises (or lowers) the reservation of an admitted request, whatever is free: the engine has
  /// allocated already. Of a held one what it waits for. False, and nothing changes, where no
  /// request has the key or a held one could never have as many.
  bool resize(uint64_t key, uint64_t blocks);

  /// The requests are gone, admitted or held; unknown keys are ignored, so that it can be repeated.
  void release(std::span<const uint64_t> keys);

  /// Admits held requests while there is room, by fair share, and writes their keys; returns how
  /// many. Call again when `keys` was filled.
  size_t promote(std::span<uint64_t> keys, double now);
  /// Writes, for each tenant that waits, the key of its request that goes first; returns how many.
  /// What it waits for can be made anew (resize) before it goes.
  size_t next_held(std::span<uint64_t> keys) const;
  /// Held requests that can no longer be admitted: their time is over, or the budget shrank below
  /// them. They are forgotten.
  size_t reject_stale(std::span<Rejected> rejected, double now);

  /// What the engine really has: `free_blocks` of its pool, and the distinct blocks that live
  /// requests hold.
  void reconcile(uint64_t free_blocks, uint64_t held_blocks);

  /// Live: what is admitted stays, and nothing is added until it fits again. False, and nothing
  /// changes, for less than the tenants' minima together.
  bool set_budget(uint64_t blocks);
  void set_capacity(uint64_t blocks) { limits_.capacity_blocks = blocks; }

  uint64_t budget() const;  ///< in force
  const Limits& limits() const { return limits_; }
  /// The largest request that may ever go, with an empty pool.
  uint64_t most_blocks(uint32_t tenant) const;
  Statistics statistics() const;
  const std::vector<TenantState>& tenants() const { return tenants_; }
  Answer state_of(uint64_t key) const;  ///< kNever for a key that is not known
  uint64_t reserved_for(uint64_t key) const;

 private:
  /// Held requests of a tenant in the order in which they go.
  struct Queue {
    uint32_t first = kNoRequest;
    uint32_t last = kNoRequest;
  };

  uint64_t charge() const;
  uint64_t minima_beside(uint32_t tenant) const;
  double oldest_since() const;
  void count_rejection(Reason reason);
  uint64_t kept_from(uint32_t tenant) const;
  uint64_t available_to(uint32_t tenant) const;
  Reason never(uint32_t tenant, uint64_t blocks) const;
  bool fits(uint32_t tenant, uint64_t blocks) const;
  bool is_next(uint32_t tenant, int32_t priority) const;
  void reserve(uint32_t request);
  void enqueue(uint32_t request);
  void dequeue(uint32_t request);
  void forget(uint32_t request);
  uint32_t fairest() const;
  bool within_minimum(uint32_t tenant, uint64_t blocks) const;
  uint32_t next_to_go() const;

  Limits limits_;
  RequestTable requests_;
  std::vector<TenantState> tenants_;
  std::vector<Queue> queues_;  ///< by tenant
  Statistics totals_;
  uint64_t reserved_ = 0;
  uint64_t late_ = 0;
};

}  // namespace kvbudget::ledger
