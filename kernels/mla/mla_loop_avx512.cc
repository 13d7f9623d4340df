#include "kernels/common/vector_avx512.h"
#define KVB_ISA_NAMESPACE avx512
#include "kernels/mla/mla_loop.h"

namespace kvbudget::kernels {

MlaLoop mla_loop_avx512() {
  using Rows = avx512::MlaRows<VectorAvx512>;
  return {avx512::run_mla_loop<VectorAvx512>, VectorAvx512::kMaxRows, Rows::dim_at};
}

}  // namespace kvbudget::kernels
