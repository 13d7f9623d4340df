// The CPU's decode over MLA's cache; no other machine has one.
#pragma once

#include "kernels/common/cpu_isa.h"
#include "kernels/include/kvbudget_kernels.h"

namespace kvbudget::kernels {

/// The arguments have been checked. Returns KVB_OK, KVB_INVALID_ARGUMENT for lengths, starts or
/// blocks that are out of bounds, KVB_OUT_OF_MEMORY.
kvb_status decode_mla(const kvb_decode_mla_args& args, CpuIsa isa) noexcept;

constexpr int32_t kMlaSplitTokens = 1024;  // 656 KiB

}  // namespace kvbudget::kernels
