#include "plugin/ledger/ledger.h"

#include <algorithm>

namespace kvbudget::ledger {
namespace {

uint64_t less(uint64_t a, uint64_t b) { return a > b ? a - b : 0; }

}  // namespace

const char* reason_name(Reason reason) {
  switch (reason) {
    case Reason::kNone:
      return "none";
    case Reason::kAboveBudget:
      return "above_budget";
    case Reason::kAboveTenantMax:
      return "above_tenant_max";
    case Reason::kAboveTenantShare:
      return "above_tenant_share";
    case Reason::kPendingFull:
      return "pending_full";
    case Reason::kHeldTooLong:
      return "held_too_long";
    case Reason::kTooManyRequests:
      return "too_many_requests";
    case Reason::kKnownKey:
      return "known_key";
    case Reason::kUnknownTenant:
      return "unknown_tenant";
  }
  return "none";
}

std::string Ledger::problem_with(const Limits& limits) {
  constexpr uint32_t kMostRequests = 1U << 24;
  if (limits.max_requests == 0 || limits.max_requests > kMostRequests) {
    return "max_requests is " + std::to_string(limits.max_requests) + "; expected 1 to " +
           std::to_string(kMostRequests);
  }
  if (limits.max_tenants == 0) return "max_tenants is 0; expected at least 1";
  if (!(limits.max_hold_seconds >= 0.0)) return "max_hold_seconds is below 0";
  return "";
}

Ledger::Ledger(const Limits& limits) : limits_(limits), requests_(limits.max_requests) {
  if (limits_.max_pending == 0) limits_.max_pending = limits_.max_requests;
  tenants_.reserve(limits_.max_tenants);
  queues_.reserve(limits_.max_tenants);
  tenant("default", {});
}

uint32_t Ledger::tenant(const std::string& name, const TenantLimits& limits) {
  if (!(limits.weight > 0.0) || limits.min_blocks > limits.max_blocks) return UINT32_MAX;
  const auto known = std::find_if(tenants_.begin(), tenants_.end(),
                                  [&](const TenantState& t) { return t.name == name; });
  const auto index = static_cast<uint32_t>(known - tenants_.begin());
  if (limits.min_blocks > less(budget(), minima_beside(index))) return UINT32_MAX;
  if (known != tenants_.end()) {
    known->limits = limits;
    return index;
  }
  if (tenants_.size() == limits_.max_tenants) return UINT32_MAX;
  TenantState& added = tenants_.emplace_back();
  added.name = name;
  added.limits = limits;
  queues_.emplace_back();
  return index;
}

uint64_t Ledger::budget() const { return std::min(limits_.budget_blocks, limits_.capacity_blocks); }

uint64_t Ledger::charge() const { return reserved_ + late_; }

uint64_t Ledger::minima_beside(uint32_t tenant) const {
  uint64_t minima = 0;
  for (uint32_t other = 0; other < tenants_.size(); ++other) {
    if (other != tenant) minima += tenants_[other].limits.min_blocks;
  }
  return minima;
}

bool Ledger::set_budget(uint64_t blocks) {
  if (minima_beside(UINT32_MAX) > blocks) return false;
  limits_.budget_blocks = blocks;
  return true;
}

// Borrowed minima are given back while anything runs; an idle pool serves whoever is next, or two
// tenants would keep each other waiting for ever.
uint64_t Ledger::kept_from(uint32_t tenant) const {
  if (limits_.mode == Mode::kOptimistic && totals_.admitted == 0) return 0;
  uint64_t kept = 0;
  for (uint32_t other = 0; other < tenants_.size(); ++other) {
    const TenantState& state = tenants_[other];
    const bool wants = limits_.mode == Mode::kStrict || state.pending > 0;
    if (other != tenant && wants) kept += less(state.limits.min_blocks, state.reserved_blocks);
  }
  return kept;
}

uint64_t Ledger::available_to(uint32_t tenant) const {
  const uint64_t of_pool = less(less(budget(), charge()), kept_from(tenant));
  const TenantState& state = tenants_[tenant];
  return std::min(of_pool, less(state.limits.max_blocks, state.reserved_blocks));
}

// Against an empty pool: what does not fit there waits for ever.
Reason Ledger::never(uint32_t tenant, uint64_t blocks) const {
  if (blocks > budget()) return Reason::kAboveBudget;
  if (blocks > tenants_[tenant].limits.max_blocks) return Reason::kAboveTenantMax;
  if (limits_.mode != Mode::kStrict) return Reason::kNone;
  return blocks > less(budget(), minima_beside(tenant)) ? Reason::kAboveTenantShare : Reason::kNone;
}

uint64_t Ledger::most_blocks(uint32_t tenant) const {
  const uint64_t kept = limits_.mode == Mode::kStrict ? minima_beside(tenant) : 0;
  return std::min(less(budget(), kept), tenants_[tenant].limits.max_blocks);
}

bool Ledger::fits(uint32_t tenant, uint64_t blocks) const { return blocks <= available_to(tenant); }

// Nobody of the tenant who came before goes first.
bool Ledger::is_next(uint32_t tenant, int32_t priority) const {
  const uint32_t first = queues_[tenant].first;
  return first == kNoRequest || priority < requests_[first].priority;
}

Decision Ledger::admit(uint64_t key, uint32_t tenant, uint64_t blocks, int32_t priority,
                       double now) {
  const auto reject = [&](Reason reason) {
    count_rejection(reason);
    return Decision{Answer::kNever, reason};
  };
  if (tenant >= tenants_.size()) return reject(Reason::kUnknownTenant);
  if (requests_.find(key) != kNoRequest) return reject(Reason::kKnownKey);
  if (const Reason reason = never(tenant, blocks); reason != Reason::kNone) return reject(reason);
  // Where others wait it does not pass them, except to what is its tenant's own.
  const bool passes =
      totals_.pending == 0 || (is_next(tenant, priority) && within_minimum(tenant, blocks));
  const bool goes = passes && fits(tenant, blocks);
  if (!goes && totals_.pending >= limits_.max_pending) return reject(Reason::kPendingFull);
  const uint32_t request = requests_.insert(key);
  if (request == kNoRequest) return reject(Reason::kTooManyRequests);
  Request& added = requests_[request];
  added.blocks = blocks;
  added.tenant = tenant;
  added.priority = priority;
  added.since = now;
  if (goes) {
    reserve(request);
    return {Answer::kAdmit, Reason::kNone};
  }
  enqueue(request);
  ++totals_.held_total;
  return {Answer::kHold, Reason::kNone};
}

bool Ledger::resize(uint64_t key, uint64_t blocks) {
  const uint32_t request = requests_.find(key);
  if (request == kNoRequest) return false;
  Request& r = requests_[request];
  if (r.held) {
    if (never(r.tenant, blocks) != Reason::kNone) return false;
    r.blocks = blocks;
    return true;
  }
  reserved_ = reserved_ - r.blocks + blocks;
  tenants_[r.tenant].reserved_blocks += blocks - r.blocks;
  r.blocks = blocks;
  totals_.peak_reserved_blocks = std::max(totals_.peak_reserved_blocks, reserved_);
  return true;
}

void Ledger::reserve(uint32_t request) {
  const Request& r = requests_[request];
  reserved_ += r.blocks;
  tenants_[r.tenant].reserved_blocks += r.blocks;
  ++tenants_[r.tenant].admitted;
  ++totals_.admitted;
  ++totals_.admitted_total;
  totals_.peak_reserved_blocks = std::max(totals_.peak_reserved_blocks, reserved_);
}

// Mostly all priorities are equal and the walk ends at once.
void Ledger::enqueue(uint32_t request) {
  Request& r = requests_[request];
  Queue& queue = queues_[r.tenant];
  r.held = true;
  r.before = queue.last;
  while (r.before != kNoRequest && requests_[r.before].priority > r.priority) {
    r.before = requests_[r.before].before;
  }
  r.after = r.before == kNoRequest ? queue.first : requests_[r.before].after;
  (r.before == kNoRequest ? queue.first : requests_[r.before].after) = request;
  (r.after == kNoRequest ? queue.last : requests_[r.after].before) = request;
  ++tenants_[r.tenant].pending;
  ++totals_.pending;
}

void Ledger::dequeue(uint32_t request) {
  Request& r = requests_[request];
  Queue& queue = queues_[r.tenant];
  (r.before == kNoRequest ? queue.first : requests_[r.before].after) = r.after;
  (r.after == kNoRequest ? queue.last : requests_[r.after].before) = r.before;
  r.held = false;
  --tenants_[r.tenant].pending;
  --totals_.pending;
}

void Ledger::forget(uint32_t request) {
  if (requests_[request].held) {
    dequeue(request);
  } else {
    const Request& r = requests_[request];
    reserved_ -= r.blocks;
    tenants_[r.tenant].reserved_blocks -= r.blocks;
    --tenants_[r.tenant].admitted;
    --totals_.admitted;
  }
  requests_.erase(request);
}

void Ledger::release(std::span<const uint64_t> keys) {
  for (const uint64_t key : keys) {
    const uint32_t request = requests_.find(key);
    if (request == kNoRequest) continue;
    forget(request);
    ++totals_.released_total;
  }
}

// The waiting tenant with the smallest share for its weight, of those that their own limits let
// go on. Where only the pool is short for it nobody passes it, so that a large request is not
// overtaken for ever by small ones.
uint32_t Ledger::fairest() const {
  uint32_t best = UINT32_MAX;
  for (uint32_t t = 0; t < tenants_.size(); ++t) {
    const TenantState& state = tenants_[t];
    if (state.pending == 0) continue;
    const uint64_t blocks = requests_[queues_[t].first].blocks;
    if (blocks > less(state.limits.max_blocks, state.reserved_blocks)) continue;
    const auto share = [](const TenantState& s) {
      return static_cast<double>(s.reserved_blocks) / s.limits.weight;
    };
    if (best == UINT32_MAX || share(state) < share(tenants_[best])) best = t;
  }
  return best;
}

bool Ledger::within_minimum(uint32_t tenant, uint64_t blocks) const {
  const TenantState& state = tenants_[tenant];
  return blocks <= less(state.limits.min_blocks, state.reserved_blocks);
}

// A minimum is its tenant's own, whoever else waits.
uint32_t Ledger::next_to_go() const {
  const auto head = [&](uint32_t t) { return requests_[queues_[t].first].blocks; };
  const uint32_t first = fairest();
  if (first == UINT32_MAX || fits(first, head(first))) return first;
  for (uint32_t t = 0; t < tenants_.size(); ++t) {
    if (tenants_[t].pending > 0 && within_minimum(t, head(t)) && fits(t, head(t))) return t;
  }
  return UINT32_MAX;
}

size_t Ledger::promote(std::span<uint64_t> keys, double now) {
  size_t count = 0;
  while (count < keys.size()) {
    const uint32_t t = next_to_go();
    if (t == UINT32_MAX) break;
    const uint32_t request = queues_[t].first;
    ++totals_.promoted_total;
    totals_.hold_seconds_total += std::max(0.0, now - requests_[request].since);
    dequeue(request);
    reserve(request);
    keys[count++] = requests_[request].key;
  }
  return count;
}

size_t Ledger::next_held(std::span<uint64_t> keys) const {
  size_t count = 0;
  for (const Queue& queue : queues_) {
    if (count == keys.size()) break;
    if (queue.first != kNoRequest) keys[count++] = requests_[queue.first].key;
  }
  return count;
}

size_t Ledger::reject_stale(std::span<Rejected> rejected, double now) {
  size_t count = 0;
  for (uint32_t t = 0; t < tenants_.size(); ++t) {
    for (uint32_t request = queues_[t].first; request != kNoRequest && count < rejected.size();) {
      const Request r = requests_[request];
      Reason reason = never(t, r.blocks);
      const bool late = limits_.max_hold_seconds > 0.0 && now - r.since >= limits_.max_hold_seconds;
      if (reason == Reason::kNone && late) reason = Reason::kHeldTooLong;
      if (reason != Reason::kNone) {
        forget(request);
        count_rejection(reason);
        rejected[count++] = {r.key, reason};
      }
      request = r.after;
    }
  }
  return count;
}

void Ledger::reconcile(uint64_t free_blocks, uint64_t held_blocks) {
  late_ = less(less(limits_.capacity_blocks, free_blocks), held_blocks);
}

Statistics Ledger::statistics() const {
  Statistics now = totals_;
  now.capacity_blocks = limits_.capacity_blocks;
  now.budget_blocks = budget();
  now.reserved_blocks = reserved_;
  now.late_blocks = late_;
  now.oldest_since = oldest_since();
  return now;
}

double Ledger::oldest_since() const {
  double oldest = 0.0;
  for (const Queue& queue : queues_) {
    if (queue.first == kNoRequest) continue;
    const double since = requests_[queue.first].since;
    if (oldest == 0.0 || since < oldest) oldest = since;
  }
  return oldest;
}

void Ledger::count_rejection(Reason reason) {
  ++totals_.rejected_total;
  ++totals_.rejected_for[static_cast<size_t>(reason)];
}

Answer Ledger::state_of(uint64_t key) const {
  const uint32_t request = requests_.find(key);
  if (request == kNoRequest) return Answer::kNever;
  return requests_[request].held ? Answer::kHold : Answer::kAdmit;
}

uint64_t Ledger::reserved_for(uint64_t key) const {
  const uint32_t request = requests_.find(key);
  return request == kNoRequest || requests_[request].held ? 0 : requests_[request].blocks;
}

}  // namespace kvbudget::ledger
