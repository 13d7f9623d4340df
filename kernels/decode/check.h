#pragma once

#include "kernels/common/check.h"

namespace kvbudget::kernels {

Problem check_decode(const kvb_decode_args* args);

}  // namespace kvbudget::kernels
