#include "kernels/common/vector_portable.h"
#define KVB_ISA_NAMESPACE portable
#include "kernels/decode/decode_loop.h"

namespace kvbudget::kernels {

DecodeLoop decode_loop_portable() {
  return {portable::run_loop<VectorPortable>, VectorPortable::kMaxRows, VectorPortable::kE4Scale};
}

}  // namespace kvbudget::kernels
