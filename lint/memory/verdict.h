// Whether an engine starts: its own checks, in the order in which it comes to them.
#pragma once

#include "lint/memory/estimate.h"
#include "lint/memory/plan.h"

namespace kvbudget::memory {

/// Plans at the ends of what is available.
struct Plans {
  Plan low, best, high;
};

/// Fills in verdict, obstacle and obstacle_certain of an estimate whose other figures are there.
/// An obstacle at the optimistic end is certain. The one that is named is that of the likely
/// figures, or of the pessimistic end where only that meets one.
void judge(Estimate& e, const ModelShape& model, const EngineSettings& settings,
           const GpuMemory& gpu, const Plans& plans);

}  // namespace kvbudget::memory
