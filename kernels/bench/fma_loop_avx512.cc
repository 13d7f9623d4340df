#include "kernels/common/vector_avx512.h"
#define KVB_ISA_NAMESPACE avx512
#include "kernels/bench/fma_loop.h"

namespace kvbudget::kernels {

FmaLoop fma_loop_avx512() { return avx512::fma_loop<VectorAvx512>; }

}  // namespace kvbudget::kernels
