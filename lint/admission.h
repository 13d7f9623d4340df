// Who may use the KV cache of an engine, and how strictly: `admission` of the project file. It goes
// into the plan (lint/plan/) that the scheduler of the plugin reads.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "lint/read/document.h"

namespace kvbudget {

struct Tenant {
  std::string name;
  double weight = 1.0;
  uint64_t min_blocks = 0;             ///< kept free for it
  std::optional<uint64_t> max_blocks;  ///< absent: all that are usable
};

/// What is absent was not said.
struct Admission {
  std::optional<std::string> mode;  ///< one of kAdmissionModes
  std::optional<uint64_t> max_pending;
  std::optional<double> max_hold_seconds;
  std::optional<std::vector<Tenant>> tenants;
};

/// observe counts only; optimistic reserves what requests like it have used; strict reserves the
/// whole life of each request, so that none is ever preempted.
inline constexpr const char* kAdmissionModes[] = {"observe", "optimistic", "strict"};

/// Empty when it is one of the modes; else what is wrong with it.
std::string admission_mode_error(const std::string& mode);

/// Reads the keys of a mapping; what is wrong is added to `faults` and left out.
void read_admission(const Node& mapping, Admission& admission, std::vector<SyntaxError>& faults);

/// What `from` says replaces what `into` says; tenants as a whole.
void merge(Admission& into, const Admission& from);

}  // namespace kvbudget
