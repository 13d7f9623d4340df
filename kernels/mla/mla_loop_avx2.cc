#include "kernels/common/vector_avx2.h"
#define KVB_ISA_NAMESPACE avx2
#include "kernels/mla/mla_loop.h"

namespace kvbudget::kernels {

MlaLoop mla_loop_avx2() {
  using Rows = avx2::MlaRows<VectorAvx2>;
  return {avx2::run_mla_loop<VectorAvx2>, VectorAvx2::kMaxRows, Rows::dim_at};
}

}  // namespace kvbudget::kernels
