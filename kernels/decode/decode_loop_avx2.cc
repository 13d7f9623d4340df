#include "kernels/common/vector_avx2.h"
#define KVB_ISA_NAMESPACE avx2
#include "kernels/decode/decode_loop.h"

namespace kvbudget::kernels {

DecodeLoop decode_loop_avx2() { return avx2::make_loop<VectorAvx2>(); }

}  // namespace kvbudget::kernels
