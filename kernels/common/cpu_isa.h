// Which instruction set the CPU twins use. Each hot loop is one template compiled once per entry,
// in a file of its own with that set's compiler flags; such files use no inline function of the
// standard library, because the linker could keep their copy for everybody.
#pragma once

#include <cstdint>

namespace kvbudget::kernels {

enum class CpuIsa : uint8_t { kPortable, kAvx2, kAvx512, kAvx512Bf16 };

bool cpu_supports(CpuIsa isa);  ///< compiled in, and this machine can run it
/// What $KVBUDGET_CPU_ISA leaves: "avx512", "avx2" or "portable"; anything else does not restrict.
CpuIsa most_allowed(const char* setting);
/// The best that is supported and allowed. The variable is read once.
CpuIsa best_cpu_isa();
const char* name(CpuIsa isa);

}  // namespace kvbudget::kernels
