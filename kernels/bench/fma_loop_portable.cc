#include "kernels/common/vector_portable.h"
#define KVB_ISA_NAMESPACE portable
#include "kernels/bench/fma_loop.h"

namespace kvbudget::kernels {

FmaLoop fma_loop_portable() { return portable::fma_loop<VectorPortable>; }

}  // namespace kvbudget::kernels
