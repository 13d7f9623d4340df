#define KVB_ISA_NAMESPACE portable
#include "kernels/quantize/quantize_rows.h"

namespace kvbudget::kernels {

QuantizeRow quantize_row_portable() { return portable::quantize_row; }

}  // namespace kvbudget::kernels
