#define KVB_ISA_NAMESPACE avx2
#include "kernels/quantize/quantize_rows.h"

namespace kvbudget::kernels {

QuantizeRow quantize_row_avx2() { return avx2::quantize_row; }

}  // namespace kvbudget::kernels
