#include "lint/admission.h"

#include <algorithm>
#include <cmath>
#include <string_view>
#include <utility>

#include "lint/engine/nearest.h"
#include "lint/own_keys.h"

namespace kvbudget {
namespace {

constexpr double kMostBlocks = 1e12;
constexpr double kMostPending = 65'536;  // requests that the ledger knows at once
constexpr double kMostSeconds = 1e6;
constexpr double kLeastWeight = 1e-3;
constexpr double kMostWeight = 1e6;

using Faults = std::vector<SyntaxError>;

std::optional<double> number(const Node& value, double least, double most, Faults& faults) {
  BoundedNumber result = bounded_number(value, least, most);
  if (result.error.empty()) return result.value;
  faults.push_back({value.where, std::move(result.error)});
  return std::nullopt;
}

std::optional<uint64_t> whole(const Node& value, double most, Faults& faults) {
  const std::optional<double> result = number(value, 0.0, most, faults);
  if (!result) return std::nullopt;
  if (*result == std::floor(*result)) return static_cast<uint64_t>(*result);
  faults.push_back({value.where, "expected a whole number"});
  return std::nullopt;
}

void read_tenant_key(const Entry& entry, Tenant& tenant, Faults& faults) {
  const std::string_view key = entry.key.view();
  const Node& value = *entry.value;
  if (key == "name") {
    tenant.name = std::string(value.scalar());
  } else if (key == "weight") {
    tenant.weight = number(value, kLeastWeight, kMostWeight, faults).value_or(1.0);
  } else if (key == "min-blocks") {
    tenant.min_blocks = whole(value, kMostBlocks, faults).value_or(0);
  } else if (key == "max-blocks") {
    tenant.max_blocks = whole(value, kMostBlocks, faults);
  } else {
    faults.push_back(
        {entry.key.location(), unknown_key(key, {"name", "weight", "min-blocks", "max-blocks"})});
  }
}

void read_tenants(const Node& list, std::vector<Tenant>& tenants, Faults& faults) {
  if (!list.is_sequence()) faults.push_back({list.where, "tenants: expected a list"});
  for (const NodePtr& item : list.items) {
    if (!item->is_mapping()) {
      faults.push_back({item->where, "expected a tenant: name, weight, min-blocks, max-blocks"});
      continue;
    }
    Tenant tenant;
    for (const Entry& entry : item->entries) read_tenant_key(entry, tenant, faults);
    const bool twice = std::any_of(tenants.begin(), tenants.end(),
                                   [&](const Tenant& t) { return t.name == tenant.name; });
    if (tenant.name.empty()) {
      faults.push_back({item->where, "a tenant without a name"});
    } else if (twice) {
      faults.push_back({item->where, "tenant '" + tenant.name + "' is there twice"});
    } else if (tenant.max_blocks && *tenant.max_blocks < tenant.min_blocks) {
      faults.push_back({item->where, "tenant '" + tenant.name + "': max-blocks " +
                                         std::to_string(*tenant.max_blocks) +
                                         " is less than min-blocks " +
                                         std::to_string(tenant.min_blocks)});
    }
    tenants.push_back(std::move(tenant));
  }
}

}  // namespace

std::string admission_mode_error(const std::string& mode) {
  const std::vector<std::string_view> known(std::begin(kAdmissionModes), std::end(kAdmissionModes));
  if (std::find(known.begin(), known.end(), mode) != known.end()) return "";
  return "no mode '" + mode + "'" +
         did_you_mean(mode, known, "expected observe, optimistic or strict");
}

void read_admission(const Node& mapping, Admission& admission, Faults& faults) {
  if (!mapping.is_mapping()) {
    faults.push_back({mapping.where, "expected mode, max-pending, max-hold-seconds or tenants"});
    return;
  }
  for (const Entry& entry : mapping.entries) {
    const std::string_view key = entry.key.view();
    const Node& value = *entry.value;
    if (key == "mode") {
      std::string error = admission_mode_error(std::string(value.scalar()));
      if (error.empty()) admission.mode = std::string(value.scalar());
      if (!error.empty()) faults.push_back({value.where, std::move(error)});
    } else if (key == "max-pending") {
      admission.max_pending = whole(value, kMostPending, faults);
    } else if (key == "max-hold-seconds") {
      admission.max_hold_seconds = number(value, 0.0, kMostSeconds, faults);
    } else if (key == "tenants") {
      read_tenants(value, admission.tenants.emplace(), faults);
    } else {
      faults.push_back({entry.key.location(),
                        unknown_key(key, {"mode", "max-pending", "max-hold-seconds", "tenants"})});
    }
  }
}

void merge(Admission& into, const Admission& from) {
  if (from.mode) into.mode = from.mode;
  if (from.max_pending) into.max_pending = from.max_pending;
  if (from.max_hold_seconds) into.max_hold_seconds = from.max_hold_seconds;
  if (from.tenants) into.tenants = from.tenants;
}

}  // namespace kvbudget
