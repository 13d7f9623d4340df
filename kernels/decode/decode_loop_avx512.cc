#include "kernels/common/vector_avx512.h"
#define KVB_ISA_NAMESPACE avx512
#include "kernels/decode/decode_loop.h"

namespace kvbudget::kernels {

DecodeLoop decode_loop_avx512() { return avx512::make_loop<VectorAvx512>(); }

}  // namespace kvbudget::kernels
