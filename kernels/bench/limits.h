// What no decode loop can beat on this machine: arithmetic in registers alone, by instruction set.
#pragma once

#include <cstdint>

#include "kernels/common/cpu_isa.h"

namespace kvbudget::kernels {

/// Runs `steps` rounds of independent fused multiply-adds; returns the FLOP done. `sink` keeps
/// them.
using FmaLoop = double (*)(int64_t steps, float* sink);

FmaLoop fma_loop_portable();
FmaLoop fma_loop_avx2();
FmaLoop fma_loop_avx512();

}  // namespace kvbudget::kernels
