#include "kernels/common/vector_portable.h"
#define KVB_ISA_NAMESPACE portable
#include "kernels/decode/decode_loop.h"

namespace kvbudget::kernels {

DecodeLoop decode_loop_portable() { return portable::make_loop<VectorPortable>(); }

}  // namespace kvbudget::kernels
