#include "kernels/common/vector_avx2.h"
#define KVB_ISA_NAMESPACE avx2
#include "kernels/bench/fma_loop.h"

namespace kvbudget::kernels {

FmaLoop fma_loop_avx2() { return avx2::fma_loop<VectorAvx2>; }

}  // namespace kvbudget::kernels
