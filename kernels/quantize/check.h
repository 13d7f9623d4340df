#pragma once

#include "kernels/common/check.h"

namespace kvbudget::kernels {

Problem check_quantize(const kvb_quantize_args* args);

}  // namespace kvbudget::kernels
