// The CPU twin of decode: splits of a fixed number of tokens, so that results depend on lengths
// alone, taken by several threads; the one that ends a (sequence, KV head) last merges it.
#pragma once

#include "kernels/common/cpu_isa.h"
#include "kernels/include/kvbudget_kernels.h"

namespace kvbudget::kernels {

/// The arguments have been checked. Returns KVB_OK, KVB_INVALID_ARGUMENT for lengths, starts or
/// blocks that are out of bounds, KVB_OUT_OF_MEMORY.
kvb_status decode_cpu(const kvb_decode_args& args, CpuIsa isa) noexcept;

constexpr int32_t kCpuSplitTokens = 2048;  // 512 KiB of codes at head dimension 128

}  // namespace kvbudget::kernels
