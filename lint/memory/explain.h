// The arithmetic of an estimate in one line, for messages and reports.
#pragma once

#include <string>

#include "lint/memory/engine_settings.h"
#include "lint/memory/estimate.h"

namespace kvbudget::memory {

/// "0.9 x 22.05 - 14.99 weights - 0.52 activation - 0.12 non-torch" (GiB), the terms inside the
/// budget.
std::string budget_text(const Estimate& estimate, const EngineSettings& settings);

/// A cache whose size settings fix, in bytes or in blocks; 0 where they do not.
uint64_t fixed_cache_bytes(const EngineSettings& settings, const Estimate& estimate);

/// Why the verdict is what it is: one sentence, lower case, no final full stop.
std::string because(const ModelShape& model, const EngineSettings& settings,
                    const Estimate& estimate);

}  // namespace kvbudget::memory
