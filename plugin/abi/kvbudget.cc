// The C interface over the ledger: checks what comes in, lets nothing out.
#include "plugin/include/kvbudget.h"

#include <algorithm>
#include <cstring>
#include <iterator>
#include <memory>
#include <new>
#include <string>
#include <vector>

#include "plugin/ledger/ledger.h"
#include "plugin/ledger/reservation.h"
#include "plugin/shm/snapshot.h"

using kvbudget::ledger::Ledger;
using kvbudget::ledger::Limits;
using kvbudget::ledger::Mode;
using kvbudget::ledger::TenantLimits;
using kvbudget::ledger::TenantState;
namespace ledger = kvbudget::ledger;
namespace shm = kvbudget::shm;

struct kvb_ledger {
  explicit kvb_ledger(const Limits& limits) : ledger(limits) {}
  Ledger ledger;
  std::unique_ptr<shm::Publisher> publisher;
  kvb_engine engine = {};
  std::vector<ledger::Rejected> rejected;
  std::string error;
};

namespace {

kvb_status fail(kvb_ledger* handle, kvb_status status, const char* message) {
  handle->error = message;
  return status;
}

// Whether the caller's struct holds all fields up to the last one that is used.
template <typename T>
bool is_whole(const T* given) {
  return given != nullptr && given->struct_size >= sizeof(T);
}

// Exceptions end here; only memory can run out.
template <typename Body>
kvb_status guarded(Body&& body) noexcept {
  try {
    return body();
  } catch (const std::bad_alloc&) {
    return KVB_NO_MEMORY;
  } catch (...) {
    return KVB_INTERNAL;
  }
}

shm::Tenant tenant_of(const Ledger& ledger, uint32_t index) {
  const TenantState& from = ledger.tenants()[index];
  shm::Tenant tenant;
  from.name.copy(tenant.name, sizeof tenant.name - 1);
  tenant.reserved_blocks = from.reserved_blocks;
  tenant.min_blocks = from.limits.min_blocks;
  tenant.max_blocks = from.limits.max_blocks;
  tenant.admitted = from.admitted;
  tenant.pending = from.pending;
  tenant.most_blocks = ledger.most_blocks(index);
  return tenant;
}

static_assert(ledger::kReasons <= shm::kReasons);
static_assert(Limits{}.max_tenants == KVB_DEFAULT_TENANTS);
static_assert(shm::kMaxTenants == KVB_DEFAULT_TENANTS);
static_assert(sizeof(kvb_engine) <= shm::kEngineWords * sizeof(uint64_t));

shm::Figures figures_of(const kvb_ledger& handle) {
  const Ledger& from = handle.ledger;
  const ledger::Statistics s = from.statistics();
  shm::Figures f;
  f.capacity_blocks = s.capacity_blocks;
  f.budget_blocks = s.budget_blocks;
  f.reserved_blocks = s.reserved_blocks;
  f.late_blocks = s.late_blocks;
  f.peak_reserved_blocks = s.peak_reserved_blocks;
  f.admitted = s.admitted;
  f.pending = s.pending;
  f.admitted_total = s.admitted_total;
  f.held_total = s.held_total;
  f.rejected_total = s.rejected_total;
  f.released_total = s.released_total;
  f.hold_seconds_total = s.hold_seconds_total;
  f.promoted_total = s.promoted_total;
  f.oldest_since = s.oldest_since;
  std::copy(s.rejected_for.begin(), s.rejected_for.end(), f.rejected_for);
  f.max_pending = from.limits().max_pending;
  f.max_hold_seconds = from.limits().max_hold_seconds;
  std::memcpy(f.engine, &handle.engine, sizeof handle.engine);
  f.tenants = std::min<size_t>(from.tenants().size(), shm::kMaxTenants);
  for (uint32_t i = 0; i < f.tenants; ++i) f.tenant[i] = tenant_of(from, i);
  return f;
}

void fill(const shm::Figures& f, kvb_statistics& out) {
  out.tenants = static_cast<uint32_t>(f.tenants);
  out.capacity_blocks = f.capacity_blocks;
  out.budget_blocks = f.budget_blocks;
  out.reserved_blocks = f.reserved_blocks;
  out.late_blocks = f.late_blocks;
  out.peak_reserved_blocks = f.peak_reserved_blocks;
  out.admitted = f.admitted;
  out.pending = f.pending;
  out.admitted_total = f.admitted_total;
  out.held_total = f.held_total;
  out.rejected_total = f.rejected_total;
  out.released_total = f.released_total;
  out.hold_seconds_total = f.hold_seconds_total;
  out.promoted_total = f.promoted_total;
  out.oldest_since = f.oldest_since;
  out.max_pending = f.max_pending;
  out.max_hold_seconds = f.max_hold_seconds;
  static_assert(sizeof out.rejected_for == sizeof f.rejected_for);
  std::copy(std::begin(f.rejected_for), std::end(f.rejected_for), out.rejected_for);
}

void fill(const shm::Tenant& t, kvb_tenant_state& out) {
  static_assert(sizeof out.name == sizeof t.name);
  std::memcpy(out.name, t.name, sizeof out.name);
  out.reserved_blocks = t.reserved_blocks;
  out.min_blocks = t.min_blocks;
  out.max_blocks = t.max_blocks;
  out.admitted = t.admitted;
  out.pending = t.pending;
  out.most_blocks = t.most_blocks;
}

kvb_status status_of(shm::ReadStatus status) {
  switch (status) {
    case shm::ReadStatus::kOk:
      return KVB_OK;
    case shm::ReadStatus::kNotFound:
      return KVB_NOT_FOUND;
    default:
      return KVB_SHARED_MEMORY;
  }
}

}  // namespace

uint32_t kvb_abi_version(void) { return KVB_ABI_VERSION; }

const char* kvb_status_text(kvb_status status) {
  switch (status) {
    case KVB_OK:
      return "ok";
    case KVB_INVALID_ARGUMENT:
      return "invalid argument";
    case KVB_NO_MEMORY:
      return "out of memory";
    case KVB_SHARED_MEMORY:
      return "shared memory failed";
    case KVB_NOT_FOUND:
      return "not found";
    case KVB_INTERNAL:
      return "internal fault";
  }
  return "unknown status";
}

const char* kvb_reason_text(uint32_t reason) {
  constexpr auto kLast = static_cast<uint32_t>(ledger::Reason::kUnknownTenant);
  return reason > kLast ? "unknown" : ledger::reason_name(static_cast<ledger::Reason>(reason));
}

kvb_status kvb_ledger_open(const kvb_limits* given, kvb_ledger** out) {
  if (out == nullptr) return KVB_INVALID_ARGUMENT;
  *out = nullptr;
  if (!is_whole(given) || given->mode > KVB_STRICT) return KVB_INVALID_ARGUMENT;
  return guarded([&] {
    Limits limits;
    limits.capacity_blocks = given->capacity_blocks;
    limits.budget_blocks = given->budget_blocks;
    limits.mode = given->mode == KVB_STRICT ? Mode::kStrict : Mode::kOptimistic;
    if (given->max_requests != 0) limits.max_requests = given->max_requests;
    if (given->max_tenants != 0) limits.max_tenants = given->max_tenants;
    limits.max_pending = given->max_pending;
    limits.max_hold_seconds = given->max_hold_seconds;
    if (!Ledger::problem_with(limits).empty()) return KVB_INVALID_ARGUMENT;
    *out = new kvb_ledger(limits);
    return KVB_OK;
  });
}

void kvb_ledger_close(kvb_ledger* handle) { delete handle; }

const char* kvb_ledger_error(const kvb_ledger* handle) {
  return handle == nullptr ? "no ledger" : handle->error.c_str();
}

kvb_status kvb_tenant_set(kvb_ledger* handle, const char* name, size_t name_bytes,
                          const kvb_tenant_limits* limits, uint32_t* tenant) {
  if (handle == nullptr || name == nullptr || tenant == nullptr) return KVB_INVALID_ARGUMENT;
  return guarded([&] {
    if (!is_whole(limits)) return fail(handle, KVB_INVALID_ARGUMENT, "limits: struct_size");
    *tenant = handle->ledger.tenant(std::string(name, name_bytes),
                                    {limits->weight, limits->min_blocks, limits->max_blocks});
    return *tenant != UINT32_MAX
               ? KVB_OK
               : fail(handle, KVB_INVALID_ARGUMENT,
                      "a weight of 0 or less, a minimum above the maximum, minima above the "
                      "budget, or more tenants than max_tenants");
  });
}

kvb_status kvb_tenant_get(const kvb_ledger* handle, uint32_t tenant, kvb_tenant_state* state) {
  if (handle == nullptr || !is_whole(state)) return KVB_INVALID_ARGUMENT;
  if (tenant >= handle->ledger.tenants().size()) return KVB_NOT_FOUND;
  fill(tenant_of(handle->ledger, tenant), *state);
  return KVB_OK;
}

kvb_status kvb_request_admit(kvb_ledger* handle, uint64_t key, uint32_t tenant, uint64_t blocks,
                             int32_t priority, double now, uint32_t* answer, uint32_t* reason) {
  if (handle == nullptr || answer == nullptr) return KVB_INVALID_ARGUMENT;
  const ledger::Decision decision = handle->ledger.admit(key, tenant, blocks, priority, now);
  *answer = static_cast<uint32_t>(decision.answer);
  if (reason != nullptr) *reason = static_cast<uint32_t>(decision.reason);
  return KVB_OK;
}

kvb_status kvb_request_resize(kvb_ledger* handle, uint64_t key, uint64_t blocks) {
  if (handle == nullptr) return KVB_INVALID_ARGUMENT;
  if (handle->ledger.resize(key, blocks)) return KVB_OK;
  if (handle->ledger.state_of(key) == ledger::Answer::kNever) return KVB_NOT_FOUND;
  return guarded([&] {
    return fail(handle, KVB_INVALID_ARGUMENT, "a held request could never have as many blocks");
  });
}

kvb_status kvb_requests_release(kvb_ledger* handle, const uint64_t* keys, size_t count) {
  if (handle == nullptr || (keys == nullptr && count > 0)) return KVB_INVALID_ARGUMENT;
  handle->ledger.release({keys, count});
  return KVB_OK;
}

kvb_status kvb_requests_promote(kvb_ledger* handle, double now, uint64_t* keys, size_t room,
                                size_t* count) {
  if (handle == nullptr || count == nullptr || (keys == nullptr && room > 0)) {
    return KVB_INVALID_ARGUMENT;
  }
  *count = handle->ledger.promote({keys, room}, now);
  return KVB_OK;
}

kvb_status kvb_requests_next_held(const kvb_ledger* handle, uint64_t* keys, size_t room,
                                  size_t* count) {
  if (handle == nullptr || count == nullptr || (keys == nullptr && room > 0)) {
    return KVB_INVALID_ARGUMENT;
  }
  *count = handle->ledger.next_held({keys, room});
  return KVB_OK;
}

kvb_status kvb_requests_reject(kvb_ledger* handle, double now, kvb_rejected* rejected, size_t room,
                               size_t* count) {
  if (handle == nullptr || count == nullptr || (rejected == nullptr && room > 0)) {
    return KVB_INVALID_ARGUMENT;
  }
  return guarded([&] {
    if (handle->rejected.size() < room) handle->rejected.resize(room);
    *count = handle->ledger.reject_stale({handle->rejected.data(), room}, now);
    for (size_t i = 0; i < *count; ++i) {
      const ledger::Rejected& from = handle->rejected[i];
      rejected[i] = {from.key, static_cast<uint32_t>(from.reason), 0};
    }
    return KVB_OK;
  });
}

kvb_status kvb_ledger_reconcile(kvb_ledger* handle, uint64_t free_blocks, uint64_t held_blocks) {
  if (handle == nullptr) return KVB_INVALID_ARGUMENT;
  handle->ledger.reconcile(free_blocks, held_blocks);
  return KVB_OK;
}

kvb_status kvb_budget_set(kvb_ledger* handle, uint64_t blocks) {
  if (handle == nullptr) return KVB_INVALID_ARGUMENT;
  if (handle->ledger.set_budget(blocks)) return KVB_OK;
  return guarded(
      [&] { return fail(handle, KVB_INVALID_ARGUMENT, "less than the tenants' minima together"); });
}

kvb_status kvb_capacity_set(kvb_ledger* handle, uint64_t blocks) {
  if (handle == nullptr) return KVB_INVALID_ARGUMENT;
  handle->ledger.set_capacity(blocks);
  return KVB_OK;
}

kvb_status kvb_statistics_get(const kvb_ledger* handle, kvb_statistics* statistics) {
  if (handle == nullptr || !is_whole(statistics)) return KVB_INVALID_ARGUMENT;
  fill(figures_of(*handle), *statistics);
  return KVB_OK;
}

uint64_t kvb_blocks_needed(const kvb_group* groups, size_t count, uint64_t prompt_tokens,
                           uint64_t output_tokens, uint64_t lookahead_tokens,
                           uint64_t encoder_tokens, uint64_t max_model_len, int partial_block) {
  if (groups == nullptr) return UINT64_MAX;
  if (count > KVB_MAX_GROUPS) return UINT64_MAX;
  ledger::Group copy[KVB_MAX_GROUPS];
  for (size_t i = 0; i < count; ++i) {
    if (groups[i].kind > KVB_GROUP_CROSS) return UINT64_MAX;
    copy[i] = {static_cast<ledger::GroupKind>(groups[i].kind), groups[i].block_tokens,
               groups[i].most_blocks};
  }
  return ledger::request_blocks({copy, count},
                                {prompt_tokens, output_tokens, lookahead_tokens, encoder_tokens},
                                max_model_len, partial_block != 0);
}

kvb_status kvb_engine_set(kvb_ledger* handle, const kvb_engine* engine) {
  if (handle == nullptr || !is_whole(engine)) return KVB_INVALID_ARGUMENT;
  if (engine->mode > KVB_ENGINE_OBSERVE || engine->group_count > KVB_MAX_GROUPS) {
    return KVB_INVALID_ARGUMENT;
  }
  handle->engine = *engine;
  return KVB_OK;
}

kvb_status kvb_snapshot_create(kvb_ledger* handle, const char* name) {
  if (handle == nullptr || name == nullptr) return KVB_INVALID_ARGUMENT;
  return guarded([&] {
    handle->publisher = shm::Publisher::create(name);
    if (handle->publisher == nullptr) {
      return fail(handle, KVB_SHARED_MEMORY, "the segment could not be created");
    }
    handle->publisher->publish(figures_of(*handle));
    return KVB_OK;
  });
}

kvb_status kvb_snapshot_publish(kvb_ledger* handle) {
  if (handle == nullptr || handle->publisher == nullptr) return KVB_INVALID_ARGUMENT;
  handle->publisher->publish(figures_of(*handle));
  return KVB_OK;
}

kvb_status kvb_snapshot_close(kvb_ledger* handle) {
  if (handle == nullptr) return KVB_INVALID_ARGUMENT;
  handle->publisher.reset();
  return KVB_OK;
}

kvb_status kvb_snapshot_read(const char* name, kvb_statistics* statistics,
                             kvb_tenant_state* tenants, size_t* count, uint64_t* pid) {
  if (name == nullptr || !is_whole(statistics) || (tenants != nullptr && count == nullptr)) {
    return KVB_INVALID_ARGUMENT;
  }
  return guarded([&] {
    const auto figures = std::make_unique<shm::Figures>();
    uint64_t writer = 0;
    const kvb_status status = status_of(shm::read_snapshot(name, *figures, writer));
    if (status != KVB_OK) return status;
    fill(*figures, *statistics);
    if (pid != nullptr) *pid = writer;
    if (tenants == nullptr) return KVB_OK;
    *count = std::min<size_t>(*count, figures->tenants);
    for (size_t i = 0; i < *count; ++i) fill(figures->tenant[i], tenants[i]);
    return KVB_OK;
  });
}

kvb_status kvb_snapshot_engine(const char* name, kvb_engine* engine) {
  if (name == nullptr || !is_whole(engine)) return KVB_INVALID_ARGUMENT;
  return guarded([&] {
    const auto figures = std::make_unique<shm::Figures>();
    uint64_t writer = 0;
    const kvb_status status = status_of(shm::read_snapshot(name, *figures, writer));
    if (status != KVB_OK) return status;
    const uint32_t struct_size = engine->struct_size;
    std::memcpy(engine, figures->engine, sizeof *engine);
    engine->struct_size = struct_size;
    return KVB_OK;
  });
}

kvb_status kvb_snapshot_unlink(const char* name) {
  if (name == nullptr) return KVB_INVALID_ARGUMENT;
  return guarded([&] { return shm::unlink_snapshot(name) ? KVB_OK : KVB_NOT_FOUND; });
}
