#pragma once

#include "kernels/common/check.h"

namespace kvbudget::kernels {

Problem check_decode(const kvb_decode_args* args);

/// Parts of it that do not look at the pages beyond their block_tokens and head_dim.
Problem check_decode_numbers(const kvb_decode_args& args);
Problem check_decode_tensors(const kvb_decode_args& args);

}  // namespace kvbudget::kernels
