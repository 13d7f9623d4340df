#include "kernels/common/vector_portable.h"
#define KVB_ISA_NAMESPACE portable
#include "kernels/mla/mla_loop.h"

namespace kvbudget::kernels {

MlaLoop mla_loop_portable() {
  using Rows = portable::MlaRows<VectorPortable>;
  return {portable::run_mla_loop<VectorPortable>, VectorPortable::kMaxRows, Rows::dim_at};
}

}  // namespace kvbudget::kernels
