// One row of K or V of a page as floats: plain loops, for helpers whose speed is memory's.
#pragma once

#include "kernels/common/page_row.h"
#include "kernels/include/kvbudget_kernels.h"

namespace kvbudget::kernels {

enum class Side : uint8_t { kKeys, kValues };

/// What the row's codes are multiplied by.
float row_scale(const kvb_pages& pages, const PageRow& row, Side side);

void read_row(const kvb_pages& pages, const PageRow& row, Side side, float* to);  // [head_dim]

/// Stores floats as a type; returns nothing that can fail.
void store_elements(const float* from, int64_t count, int32_t type, void* to);
void load_elements(const void* from, int64_t count, int32_t type, float* to);

}  // namespace kvbudget::kernels
