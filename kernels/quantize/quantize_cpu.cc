#include "kernels/quantize/quantize_cpu.h"

#include <algorithm>
#include <atomic>

#include "kernels/common/check.h"
#include "kernels/common/page_row.h"
#include "kernels/common/parallel_for.h"
#include "kernels/pages/read_row.h"
#include "kernels/quantize/check.h"

namespace kvbudget::kernels {
namespace {

constexpr int64_t kRowsPerTask = 256;  // some 100 microseconds, well above a thread's start

QuantizeRow row_function(CpuIsa isa) {
  switch (isa) {
    case CpuIsa::kAvx512Bf16:
    case CpuIsa::kAvx512:
      return quantize_row_avx512();
    case CpuIsa::kAvx2:
      return quantize_row_avx2();
    case CpuIsa::kPortable:
      break;
  }
  return quantize_row_portable();
}

RowTarget target_of(const kvb_pages& pages, const PageRow& row, Side side) {
  const bool keys = side == Side::kKeys;
  RowTarget target{};
  target.codes = static_cast<uint8_t*>(keys ? pages.keys : pages.values) + row_offset(pages, row);
  target.head_dim = pages.head_dim;
  target.type = pages.type;
  target.token = static_cast<uint32_t>(row.token);
  target.swizzle = pages.swizzle != 0;
  target.static_scale = 1.f;
  void* scales = keys ? pages.key_scales : pages.value_scales;
  if (has_token_scales(pages.scales)) {
    target.scale_bytes = scale_bytes(pages.scales);
    target.token_scale = static_cast<uint8_t*>(scales) + scale_offset(pages, row);
  } else if (pages.scales != KVB_SCALES_NONE) {
    target.static_scale =
        static_cast<const float*>(scales)[pages.scales == KVB_SCALES_HEAD ? row.head : 0];
  }
  return target;
}

const void* source_of(const kvb_quantize_args& a, int64_t token, int32_t head, Side side) {
  const bool keys = side == Side::kKeys;
  const int64_t element = keys ? token * a.key_token_stride + head * a.key_head_stride
                               : token * a.value_token_stride + head * a.value_head_stride;
  return static_cast<const uint8_t*>(keys ? a.keys : a.values) + element * element_bytes(a.type);
}

}  // namespace

void quantize_one(const kvb_pages& pages, const PageRow& row, const float* keys,
                  const float* values) {
  const QuantizeRow quantize_row = row_function(best_cpu_isa());
  quantize_row(keys, KVB_FLOAT32, target_of(pages, row, Side::kKeys));
  quantize_row(values, KVB_FLOAT32, target_of(pages, row, Side::kValues));
}

void quantize_kv_cpu(const kvb_quantize_args& a, CpuIsa isa) {
  const QuantizeRow quantize_row = row_function(isa);
  const int64_t heads = a.pages.num_kv_heads;
  const int64_t rows = a.num_tokens * heads;
  std::atomic<uint64_t> nans{0};
  const auto task = [&](int64_t index) {
    uint64_t found = 0;
    const int64_t end = std::min(rows, (index + 1) * kRowsPerTask);
    for (int64_t i = index * kRowsPerTask; i < end; ++i) {
      const int64_t token = i / heads;
      const int64_t slot = a.slots[token];
      if (slot < 0) continue;
      const PageRow row{slot / a.pages.block_tokens, static_cast<int32_t>(i % heads),
                        static_cast<int32_t>(slot % a.pages.block_tokens)};
      for (const Side side : {Side::kKeys, Side::kValues})
        found += quantize_row(source_of(a, token, row.head, side), a.type,
                              target_of(a.pages, row, side));
    }
    nans += found;
  };
  parallel_for(a.num_threads, (rows + kRowsPerTask - 1) / kRowsPerTask, task);
  if (a.nan_count != nullptr) *a.nan_count += nans;
}

}  // namespace kvbudget::kernels

extern "C" int kvb_quantize_kv_cpu(const kvb_quantize_args* args, void* stream) {
  using namespace kvbudget::kernels;
  if (const Problem problem = check_quantize(args)) return problem.status;
  if (stream != nullptr) return KVB_INVALID_ARGUMENT;
  quantize_kv_cpu(*args, best_cpu_isa());
  return KVB_OK;
}
