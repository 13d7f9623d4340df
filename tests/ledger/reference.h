// The ledger once more, as plainly as it can be said: every answer is computed anew from a list of
// all requests in the order in which they came.
#pragma once

#include <algorithm>
#include <cstdint>
#include <optional>
#include <vector>

#include "plugin/ledger/ledger.h"

namespace kvbudget::test {

class ReferenceLedger {
 public:
  struct Item {
    uint64_t key;
    uint32_t tenant;
    uint64_t blocks;
    int32_t priority;
    double since;
    bool held;
  };

  explicit ReferenceLedger(const ledger::Limits& limits) : limits_(limits) {
    if (limits_.max_pending == 0) limits_.max_pending = limits_.max_requests;
    tenants_.push_back({});
  }

  bool set_tenant(size_t index, const ledger::TenantLimits& limits) {
    int64_t minima = 0;
    for (size_t t = 0; t < tenants_.size(); ++t) {
      if (t != index) minima += signed_of(tenants_[t].min_blocks);
    }
    if (signed_of(limits.min_blocks) + minima > budget()) return false;
    if (index == tenants_.size()) tenants_.emplace_back();
    tenants_[index] = limits;
    return true;
  }

  ledger::Decision admit(uint64_t key, uint32_t tenant, uint64_t blocks, int32_t priority,
                         double now) {
    using ledger::Answer;
    using ledger::Reason;
    if (tenant >= tenants_.size()) return {Answer::kNever, Reason::kUnknownTenant};
    if (find(key) != items_.end()) return {Answer::kNever, Reason::kKnownKey};
    if (const Reason reason = never(tenant, blocks); reason != Reason::kNone) {
      return {Answer::kNever, reason};
    }
    const std::optional<Item> head = head_of(tenant);
    const bool first = !head || priority < head->priority;
    const bool passes = pending() == 0 || (first && in_minimum(tenant, blocks));
    const bool goes = passes && fits(tenant, blocks);
    if (!goes && pending() >= limits_.max_pending) return {Answer::kNever, Reason::kPendingFull};
    if (items_.size() >= limits_.max_requests) return {Answer::kNever, Reason::kTooManyRequests};
    items_.push_back({key, tenant, blocks, priority, now, !goes});
    return {goes ? Answer::kAdmit : Answer::kHold, Reason::kNone};
  }

  bool resize(uint64_t key, uint64_t blocks) {
    const auto item = find(key);
    if (item == items_.end()) return false;
    if (item->held && never(item->tenant, blocks) != ledger::Reason::kNone) return false;
    item->blocks = blocks;
    return true;
  }

  void release(uint64_t key) {
    const auto item = find(key);
    if (item != items_.end()) items_.erase(item);
  }

  std::vector<uint64_t> promote(size_t most) {
    std::vector<uint64_t> keys;
    while (keys.size() < most) {
      const std::optional<Item> next = next_to_go();
      if (!next) break;
      find(next->key)->held = false;
      keys.push_back(next->key);
    }
    return keys;
  }

  std::vector<uint64_t> next_held() const {
    std::vector<uint64_t> keys;
    for (uint32_t t = 0; t < tenants_.size(); ++t) {
      if (const std::optional<Item> head = head_of(t)) keys.push_back(head->key);
    }
    return keys;
  }

  std::vector<ledger::Rejected> reject_stale(double now) {
    std::vector<ledger::Rejected> rejected;
    for (uint32_t t = 0; t < tenants_.size(); ++t) {
      for (const Item& item : queue_of(t)) {
        ledger::Reason reason = never(t, item.blocks);
        const bool late =
            limits_.max_hold_seconds > 0 && now - item.since >= limits_.max_hold_seconds;
        if (reason == ledger::Reason::kNone && late) reason = ledger::Reason::kHeldTooLong;
        if (reason == ledger::Reason::kNone) continue;
        rejected.push_back({item.key, reason});
        release(item.key);
      }
    }
    return rejected;
  }

  void reconcile(uint64_t free_blocks, uint64_t held_blocks) {
    late_ = std::max<int64_t>(
        0, signed_of(limits_.capacity_blocks) - signed_of(free_blocks) - signed_of(held_blocks));
  }

  bool set_budget(uint64_t blocks) {
    int64_t minima = 0;
    for (const ledger::TenantLimits& t : tenants_) minima += signed_of(t.min_blocks);
    if (minima > signed_of(blocks)) return false;
    limits_.budget_blocks = blocks;
    return true;
  }
  void set_capacity(uint64_t blocks) { limits_.capacity_blocks = blocks; }

  int64_t budget() const {
    return signed_of(std::min(limits_.budget_blocks, limits_.capacity_blocks));
  }
  int64_t reserved() const {
    int64_t sum = 0;
    for (const Item& item : items_) sum += item.held ? 0 : signed_of(item.blocks);
    return sum;
  }
  int64_t late() const { return late_; }
  size_t pending() const {
    return static_cast<size_t>(
        std::count_if(items_.begin(), items_.end(), [](const Item& i) { return i.held; }));
  }
  size_t admitted() const { return items_.size() - pending(); }
  const std::vector<Item>& items() const { return items_; }

 private:
  static int64_t signed_of(uint64_t blocks) {
    return blocks > INT64_MAX / 4 ? INT64_MAX / 4 : static_cast<int64_t>(blocks);
  }

  std::vector<Item>::iterator find(uint64_t key) {
    return std::find_if(items_.begin(), items_.end(), [&](const Item& i) { return i.key == key; });
  }

  std::vector<Item> queue_of(uint32_t tenant) const {
    std::vector<Item> queue;
    for (const Item& item : items_) {
      if (item.held && item.tenant == tenant) queue.push_back(item);
    }
    std::stable_sort(queue.begin(), queue.end(),
                     [](const Item& a, const Item& b) { return a.priority < b.priority; });
    return queue;
  }
  std::optional<Item> head_of(uint32_t tenant) const {
    const std::vector<Item> queue = queue_of(tenant);
    return queue.empty() ? std::nullopt : std::optional(queue.front());
  }

  int64_t reserved_by(uint32_t tenant) const {
    int64_t sum = 0;
    for (const Item& item : items_) {
      if (!item.held && item.tenant == tenant) sum += signed_of(item.blocks);
    }
    return sum;
  }

  ledger::Reason never(uint32_t tenant, uint64_t blocks) const {
    if (signed_of(blocks) > budget()) return ledger::Reason::kAboveBudget;
    if (blocks > tenants_[tenant].max_blocks) return ledger::Reason::kAboveTenantMax;
    int64_t others = 0;
    for (uint32_t t = 0; t < tenants_.size(); ++t) {
      if (t != tenant) others += signed_of(tenants_[t].min_blocks);
    }
    const bool strict = limits_.mode == ledger::Mode::kStrict;
    return strict && signed_of(blocks) + others > budget() ? ledger::Reason::kAboveTenantShare
                                                           : ledger::Reason::kNone;
  }

  bool fits(uint32_t tenant, uint64_t blocks) const {
    int64_t kept = 0;
    const bool strict = limits_.mode == ledger::Mode::kStrict;
    for (uint32_t t = 0; t < tenants_.size(); ++t) {
      if (t == tenant || (!strict && (admitted() == 0 || !head_of(t)))) continue;
      kept += std::max<int64_t>(0, signed_of(tenants_[t].min_blocks) - reserved_by(t));
    }
    const int64_t own = signed_of(tenants_[tenant].max_blocks) - reserved_by(tenant);
    const int64_t free =
        std::max<int64_t>(0, std::max<int64_t>(0, budget() - reserved() - late_) - kept);
    return signed_of(blocks) <= free && signed_of(blocks) <= std::max<int64_t>(0, own);
  }

  bool in_minimum(uint32_t tenant, uint64_t blocks) const {
    return signed_of(blocks) <=
           std::max<int64_t>(0, signed_of(tenants_[tenant].min_blocks) - reserved_by(tenant));
  }

  std::optional<Item> next_to_go() const {
    std::optional<Item> best;
    double best_share = 0;
    for (uint32_t t = 0; t < tenants_.size(); ++t) {
      const std::optional<Item> head = head_of(t);
      if (!head) continue;
      const int64_t own = signed_of(tenants_[t].max_blocks) - reserved_by(t);
      if (signed_of(head->blocks) > std::max<int64_t>(0, own)) continue;
      const double share = static_cast<double>(reserved_by(t)) / tenants_[t].weight;
      if (!best || share < best_share) {
        best = head;
        best_share = share;
      }
    }
    if (!best || fits(best->tenant, best->blocks)) return best;
    for (uint32_t t = 0; t < tenants_.size(); ++t) {
      const std::optional<Item> head = head_of(t);
      if (head && in_minimum(t, head->blocks) && fits(t, head->blocks)) return head;
    }
    return std::nullopt;
  }

  ledger::Limits limits_;
  std::vector<ledger::TenantLimits> tenants_;
  std::vector<Item> items_;
  int64_t late_ = 0;
};

}  // namespace kvbudget::test
