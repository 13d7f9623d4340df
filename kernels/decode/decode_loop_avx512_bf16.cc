#include "kernels/common/vector_avx512_bf16.h"
#define KVB_ISA_NAMESPACE avx512_bf16
#include "kernels/decode/decode_loop.h"

namespace kvbudget::kernels {

DecodeLoop decode_loop_avx512_bf16() { return avx512_bf16::make_loop<VectorAvx512Bf16>(); }

}  // namespace kvbudget::kernels
