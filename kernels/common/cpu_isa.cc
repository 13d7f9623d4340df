#include "kernels/common/cpu_isa.h"

#include <cstdlib>
#include <string_view>

#include "kernels/include/kvbudget_kernels.h"

namespace kvbudget::kernels {

bool cpu_supports(CpuIsa isa) {
#if defined(__x86_64__)
  switch (isa) {
    case CpuIsa::kPortable:
      return true;
    case CpuIsa::kAvx2:
      return __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma") &&
             __builtin_cpu_supports("f16c");
    case CpuIsa::kAvx512:
      return cpu_supports(CpuIsa::kAvx2) && __builtin_cpu_supports("avx512f") &&
             __builtin_cpu_supports("avx512bw") && __builtin_cpu_supports("avx512vl") &&
             __builtin_cpu_supports("avx512dq") && __builtin_cpu_supports("avx512vbmi");
    case CpuIsa::kAvx512Bf16:
      return cpu_supports(CpuIsa::kAvx512) && __builtin_cpu_supports("avx512bf16");
  }
  return false;
#else
  return isa == CpuIsa::kPortable;
#endif
}

CpuIsa most_allowed(const char* setting) {
  constexpr CpuIsa kMost = CpuIsa::kAvx512Bf16;
  if (setting == nullptr) return kMost;
  for (const CpuIsa isa : {CpuIsa::kPortable, CpuIsa::kAvx2, CpuIsa::kAvx512}) {
    if (setting == std::string_view(name(isa))) return isa;
  }
  return kMost;
}

CpuIsa best_cpu_isa() {
  static const CpuIsa most = most_allowed(std::getenv("KVBUDGET_CPU_ISA"));
  for (const CpuIsa isa : {CpuIsa::kAvx512Bf16, CpuIsa::kAvx512, CpuIsa::kAvx2}) {
    if (isa <= most && cpu_supports(isa)) return isa;
  }
  return CpuIsa::kPortable;
}

const char* name(CpuIsa isa) {
  switch (isa) {
    case CpuIsa::kPortable:
      return "portable";
    case CpuIsa::kAvx2:
      return "avx2";
    case CpuIsa::kAvx512:
      return "avx512";
    case CpuIsa::kAvx512Bf16:
      return "avx512_bf16";
  }
  return "";
}

}  // namespace kvbudget::kernels

extern "C" const char* kvb_cpu_isa(void) {
  return kvbudget::kernels::name(kvbudget::kernels::best_cpu_isa());
}
