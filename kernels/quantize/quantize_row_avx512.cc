#define KVB_ISA_NAMESPACE avx512
#include "kernels/quantize/quantize_rows.h"

namespace kvbudget::kernels {

QuantizeRow quantize_row_avx512() { return avx512::quantize_row; }

}  // namespace kvbudget::kernels
