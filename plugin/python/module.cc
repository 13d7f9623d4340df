// kvbudget._core: the C interface of the ledger as Python classes, and the learned output lengths.
// What a call cannot do is a Python exception that says what the ledger said.
#include <nanobind/nanobind.h>
#include <nanobind/stl/pair.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/tuple.h>
#include <nanobind/stl/vector.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <iterator>
#include <stdexcept>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "plugin/include/kvbudget.h"
#include "plugin/ledger/output_lengths.h"

namespace nb = nanobind;
using kvbudget::ledger::OutputLengths;

namespace {

using GroupRows = std::vector<std::tuple<uint32_t, uint32_t, uint64_t>>;

nb::dict dict_of(const kvb_statistics& s) {
  nb::dict out;
  out["capacity_blocks"] = s.capacity_blocks;
  out["budget_blocks"] = s.budget_blocks;
  out["reserved_blocks"] = s.reserved_blocks;
  out["late_blocks"] = s.late_blocks;
  out["peak_reserved_blocks"] = s.peak_reserved_blocks;
  out["admitted"] = s.admitted;
  out["pending"] = s.pending;
  out["admitted_total"] = s.admitted_total;
  out["held_total"] = s.held_total;
  out["promoted_total"] = s.promoted_total;
  out["rejected_total"] = s.rejected_total;
  out["released_total"] = s.released_total;
  out["hold_seconds_total"] = s.hold_seconds_total;
  out["oldest_since"] = s.oldest_since;
  out["max_pending"] = s.max_pending;
  out["max_hold_seconds"] = s.max_hold_seconds;
  nb::dict rejected;
  for (uint32_t reason = 1; reason < std::size(s.rejected_for); ++reason) {
    const std::string name = kvb_reason_text(reason);
    if (name != "unknown") rejected[name.c_str()] = s.rejected_for[reason];
  }
  out["rejected_for"] = rejected;
  return out;
}

nb::dict dict_of(const kvb_tenant_state& t) {
  nb::dict out;
  // A name that was cut off may end inside a character.
  out["name"] = nb::bytes(t.name).attr("decode")("utf-8", "replace");
  out["reserved_blocks"] = t.reserved_blocks;
  out["min_blocks"] = t.min_blocks;
  out["most_blocks"] = t.most_blocks;
  out["admitted"] = t.admitted;
  out["pending"] = t.pending;
  return out;
}

nb::dict dict_of(const kvb_engine& e) {
  nb::dict out;
  out["mode"] = e.mode;
  out["max_model_len"] = e.max_model_len;
  out["lookahead_tokens"] = e.lookahead_tokens;
  out["partial_block"] = e.partial_block != 0;
  nb::list groups;
  for (uint32_t i = 0; i < std::min(e.group_count, KVB_MAX_GROUPS); ++i) {
    const kvb_group& g = e.groups[i];
    groups.append(nb::make_tuple(g.kind, g.block_tokens, g.most_blocks));
  }
  out["groups"] = nb::tuple(groups);
  out["held_blocks"] = e.held_blocks;
  out["drift_blocks"] = e.drift_blocks;
  out["steps_total"] = e.steps_total;
  out["step_seconds_total"] = e.step_seconds_total;
  out["preemptions_total"] = e.preemptions_total;
  out["requests_total"] = e.requests_total;
  out["would_hold_total"] = e.would_hold_total;
  out["would_reject_total"] = e.would_reject_total;
  out["concurrency_lost"] = e.concurrency_lost;
  return out;
}

/// The figures in a segment, or none where it is absent, torn or of another release.
nb::object read_snapshot(const std::string& name) {
  kvb_statistics statistics{};
  statistics.struct_size = sizeof statistics;
  kvb_engine engine{};
  engine.struct_size = sizeof engine;
  std::vector<kvb_tenant_state> tenants(KVB_DEFAULT_TENANTS);
  for (kvb_tenant_state& tenant : tenants) tenant.struct_size = sizeof tenant;
  size_t count = tenants.size();
  uint64_t pid = 0;
  if (kvb_snapshot_read(name.c_str(), &statistics, tenants.data(), &count, &pid) != KVB_OK ||
      kvb_snapshot_engine(name.c_str(), &engine) != KVB_OK) {
    return nb::none();
  }
  nb::dict out = dict_of(statistics);
  out["pid"] = pid;
  out["engine"] = dict_of(engine);
  nb::list listed;
  for (size_t i = 0; i < count; ++i) listed.append(dict_of(tenants[i]));
  out["tenants"] = listed;
  return out;
}

class Ledger {
 public:
  Ledger(uint64_t capacity_blocks, uint64_t budget_blocks, bool strict, uint32_t max_pending,
         double max_hold_seconds) {
    kvb_limits limits{};
    limits.struct_size = sizeof limits;
    limits.mode = strict ? KVB_STRICT : KVB_OPTIMISTIC;
    limits.capacity_blocks = capacity_blocks;
    limits.budget_blocks = budget_blocks;
    limits.max_pending = max_pending;
    limits.max_hold_seconds = max_hold_seconds;
    const kvb_status status = kvb_ledger_open(&limits, &handle_);
    if (status != KVB_OK) {
      throw std::invalid_argument("a ledger of " + std::to_string(budget_blocks) + " of " +
                                  std::to_string(capacity_blocks) +
                                  " blocks: " + kvb_status_text(status));
    }
  }
  ~Ledger() { kvb_ledger_close(handle_); }
  Ledger(const Ledger&) = delete;
  Ledger& operator=(const Ledger&) = delete;

  uint32_t tenant(const std::string& name, double weight, uint64_t min_blocks,
                  uint64_t max_blocks) {
    kvb_tenant_limits limits{};
    limits.struct_size = sizeof limits;
    limits.weight = weight;
    limits.min_blocks = min_blocks;
    limits.max_blocks = max_blocks;
    uint32_t index = 0;
    check(kvb_tenant_set(handle_, name.data(), name.size(), &limits, &index));
    return index;
  }

  /// The answer alone: a pair would cost more than the ledger itself.
  uint32_t admit(uint64_t key, uint32_t tenant, uint64_t blocks, double now) {
    return admit_by_priority(key, tenant, blocks, now, 0);
  }
  uint32_t admit_by_priority(uint64_t key, uint32_t tenant, uint64_t blocks, double now,
                             int32_t priority) {
    uint32_t answer = KVB_NEVER;
    check(kvb_request_admit(handle_, key, tenant, blocks, priority, now, &answer, &reason_));
    return answer;
  }
  /// Of the last answer that was NEVER.
  uint32_t reason() const { return reason_; }

  /// False where a held request could never have as many.
  bool resize(uint64_t key, uint64_t blocks) {
    const kvb_status status = kvb_request_resize(handle_, key, blocks);
    if (status == KVB_INVALID_ARGUMENT) return false;
    check(status);
    return true;
  }

  void release(const std::vector<uint64_t>& keys) {
    check(kvb_requests_release(handle_, keys.data(), keys.size()));
  }

  std::vector<uint64_t> promote(double now, size_t most) {
    std::array<uint64_t, 256> some;
    std::vector<uint64_t> all;
    size_t count = some.size();
    while (count == some.size() && all.size() < most) {
      const size_t room = std::min(some.size(), most - all.size());
      check(kvb_requests_promote(handle_, now, some.data(), room, &count));
      all.insert(all.end(), some.begin(), some.begin() + static_cast<std::ptrdiff_t>(count));
    }
    return all;
  }

  std::vector<uint64_t> next_held() const {
    std::array<uint64_t, 64> keys;
    size_t count = 0;
    check(kvb_requests_next_held(handle_, keys.data(), keys.size(), &count));
    return {keys.begin(), keys.begin() + static_cast<std::ptrdiff_t>(count)};
  }

  std::vector<std::pair<uint64_t, uint32_t>> reject_stale(double now) {
    std::array<kvb_rejected, 64> some;
    std::vector<std::pair<uint64_t, uint32_t>> all;
    size_t count = some.size();
    while (count == some.size()) {
      check(kvb_requests_reject(handle_, now, some.data(), some.size(), &count));
      for (size_t i = 0; i < count; ++i) all.emplace_back(some[i].key, some[i].reason);
    }
    return all;
  }

  void reconcile(uint64_t free_blocks, uint64_t held_blocks) {
    check(kvb_ledger_reconcile(handle_, free_blocks, held_blocks));
  }

  nb::dict statistics() const {
    kvb_statistics s{};
    s.struct_size = sizeof s;
    check(kvb_statistics_get(handle_, &s));
    return dict_of(s);
  }

  void set_budget(uint64_t blocks) { check(kvb_budget_set(handle_, blocks)); }

  void share(const std::string& name) { check(kvb_snapshot_create(handle_, name.c_str())); }

  void unshare() { check(kvb_snapshot_close(handle_)); }

  /// What does not change while the engine runs.
  void describe(uint32_t mode, const GroupRows& groups, uint64_t lookahead_tokens,
                uint64_t max_model_len, bool partial_block) {
    if (groups.size() > KVB_MAX_GROUPS) throw std::invalid_argument("too many KV cache groups");
    engine_.mode = mode;
    engine_.lookahead_tokens = lookahead_tokens;
    engine_.max_model_len = max_model_len;
    engine_.partial_block = partial_block ? 1 : 0;
    engine_.group_count = static_cast<uint32_t>(groups.size());
    for (size_t i = 0; i < groups.size(); ++i) {
      const auto& [kind, block_tokens, most_blocks] = groups[i];
      engine_.groups[i] = {kind, block_tokens, most_blocks};
    }
  }

  void publish(uint64_t held_blocks, uint64_t drift_blocks, uint64_t steps, double step_seconds,
               uint64_t preemptions, uint64_t requests, uint64_t would_hold, uint64_t would_reject,
               double concurrency_lost) {
    engine_.struct_size = sizeof engine_;
    engine_.held_blocks = held_blocks;
    engine_.drift_blocks = drift_blocks;
    engine_.steps_total = steps;
    engine_.step_seconds_total = step_seconds;
    engine_.preemptions_total = preemptions;
    engine_.requests_total = requests;
    engine_.would_hold_total = would_hold;
    engine_.would_reject_total = would_reject;
    engine_.concurrency_lost = concurrency_lost;
    check(kvb_engine_set(handle_, &engine_));
    check(kvb_snapshot_publish(handle_));
  }

 private:
  void check(kvb_status status) const {
    if (status == KVB_OK) return;
    throw std::invalid_argument(std::string(kvb_status_text(status)) + ": " +
                                kvb_ledger_error(handle_));
  }

  kvb_ledger* handle_ = nullptr;
  kvb_engine engine_{};
  uint32_t reason_ = 0;
};

/// The KV cache groups of an engine, for the blocks of a request's whole life.
class Groups {
 public:
  explicit Groups(const GroupRows& rows) : rows_(rows) {
    for (const auto& [kind, block_tokens, most_blocks] : rows) {
      if (kind > KVB_GROUP_CROSS) throw std::invalid_argument("no such kind of KV cache group");
      groups_.push_back({kind, block_tokens, most_blocks});
    }
  }
  uint64_t blocks_needed(uint64_t prompt_tokens, uint64_t output_tokens, uint64_t lookahead_tokens,
                         uint64_t max_model_len, bool partial_block) const {
    if (groups_.empty()) return 0;  // an engine without attention keeps nothing
    return kvb_blocks_needed(groups_.data(), groups_.size(), prompt_tokens, output_tokens,
                             lookahead_tokens, 0, max_model_len, partial_block ? 1 : 0);
  }
  const GroupRows& rows() const { return rows_; }

 private:
  GroupRows rows_;
  std::vector<kvb_group> groups_;
};

}  // namespace

NB_MODULE(_core, m) {
  m.attr("ADMIT") = static_cast<int>(KVB_ADMIT);
  m.attr("HOLD") = static_cast<int>(KVB_HOLD);
  m.attr("NEVER") = static_cast<int>(KVB_NEVER);
  m.attr("ENGINE_OPTIMISTIC") = static_cast<int>(KVB_ENGINE_OPTIMISTIC);
  m.attr("ENGINE_STRICT") = static_cast<int>(KVB_ENGINE_STRICT);
  m.attr("ENGINE_OBSERVE") = static_cast<int>(KVB_ENGINE_OBSERVE);
  m.attr("DEFAULT_TENANTS") = static_cast<int>(KVB_DEFAULT_TENANTS);
  m.attr("GROUP_FULL") = static_cast<int>(KVB_GROUP_FULL);
  m.attr("GROUP_BOUNDED") = static_cast<int>(KVB_GROUP_BOUNDED);
  m.attr("GROUP_STATE") = static_cast<int>(KVB_GROUP_STATE);
  m.def("abi_version", &kvb_abi_version);
  m.def("read_snapshot", &read_snapshot);
  m.def("unlink_snapshot",
        [](const std::string& name) { return kvb_snapshot_unlink(name.c_str()) == KVB_OK; });
  m.def("reason_text", [](uint32_t reason) { return std::string(kvb_reason_text(reason)); });

  nb::class_<Ledger>(m, "Ledger")
      .def(nb::init<uint64_t, uint64_t, bool, uint32_t, double>(), nb::arg("capacity_blocks"),
           nb::arg("budget_blocks"), nb::arg("strict"), nb::arg("max_pending") = 0,
           nb::arg("max_hold_seconds") = 0.0)
      .def("tenant", &Ledger::tenant, nb::arg("name"), nb::arg("weight") = 1.0,
           nb::arg("min_blocks") = 0, nb::arg("max_blocks") = UINT64_MAX)
      .def("admit", &Ledger::admit)
      .def("admit_by_priority", &Ledger::admit_by_priority)
      .def_prop_ro("reason", &Ledger::reason)
      .def("resize", &Ledger::resize)
      .def("release", &Ledger::release)
      .def("promote", &Ledger::promote, nb::arg("now"), nb::arg("most") = SIZE_MAX)
      .def("next_held", &Ledger::next_held)
      .def("reject_stale", &Ledger::reject_stale)
      .def("reconcile", &Ledger::reconcile)
      .def("statistics", &Ledger::statistics)
      .def("set_budget", &Ledger::set_budget)
      .def("share", &Ledger::share)
      .def("unshare", &Ledger::unshare)
      .def("describe", &Ledger::describe)
      .def("publish", &Ledger::publish);

  nb::class_<Groups>(m, "Groups")
      .def(nb::init<const GroupRows&>())
      .def("rows", &Groups::rows)
      .def("blocks_needed", &Groups::blocks_needed);

  nb::class_<OutputLengths>(m, "OutputLengths")
      .def(nb::init<>())
      .def("add", &OutputLengths::add)
      .def("preempted", &OutputLengths::preempted)
      .def("assumed", &OutputLengths::assumed);
}
