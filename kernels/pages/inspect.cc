// Looking at values without writing any: what static scales would have to be, and whether pages
// hold what no quantiser of ours writes.
#include <algorithm>
#include <cmath>

#include "kernels/common/scale.h"
#include "kernels/pages/read_row.h"
#include "kernels/pages/slots.h"
#include "kernels/quantize/check.h"

namespace kvbudget::kernels {
namespace {

float largest(const void* from, int64_t offset, const kvb_quantize_args& a) {
  float row[256];
  load_elements(static_cast<const uint8_t*>(from) + offset * element_bytes(a.type),
                a.pages.head_dim, a.type, row);
  uint32_t amax = 0;
  for (int32_t d = 0; d < a.pages.head_dim; ++d)
    amax = std::max(amax, finite_magnitude(bits_of(row[d])));
  return float_of(amax);
}

bool is_nan_code(int32_t type, uint8_t code) {
  return type == KVB_FLOAT8_E4M3 ? (code & 0x7f) == 0x7f : (code & 0x7f) > 0x7b;
}

bool is_bad_scale(const kvb_pages& pages, const PageRow& row, Side side) {
  const float scale = row_scale(pages, row, side);
  constexpr float kSmallest = 0x1p-126f;
  constexpr float kLargest = 0x1p119f;
  return !(scale >= kSmallest && scale <= kLargest);
}

}  // namespace
}  // namespace kvbudget::kernels

extern "C" int kvb_scan_amax_cpu(const kvb_quantize_args* args, float* key_amax,
                                 float* value_amax) {
  using namespace kvbudget::kernels;
  if (const Problem problem = check_quantize(args)) return problem.status;
  if (key_amax == nullptr || value_amax == nullptr) return KVB_INVALID_ARGUMENT;
  const kvb_quantize_args& a = *args;
  for (int64_t token = 0; token < a.num_tokens; ++token) {
    for (int32_t head = 0; head < a.pages.num_kv_heads; ++head) {
      key_amax[head] =
          std::max(key_amax[head],
                   largest(a.keys, token * a.key_token_stride + head * a.key_head_stride, a));
      value_amax[head] =
          std::max(value_amax[head],
                   largest(a.values, token * a.value_token_stride + head * a.value_head_stride, a));
    }
  }
  return KVB_OK;
}

extern "C" int kvb_verify_pages_cpu(const kvb_pages* pages, const int64_t* slots,
                                    int64_t num_tokens, uint64_t* nan_codes, uint64_t* bad_scales) {
  using namespace kvbudget::kernels;
  if (pages == nullptr || nan_codes == nullptr || bad_scales == nullptr)
    return KVB_INVALID_ARGUMENT;
  if (const Problem problem = check_pages(*pages)) return problem.status;
  if (!is_fp8(pages->type)) return KVB_UNSUPPORTED;
  if (const Problem problem = check_slots(*pages, slots, num_tokens)) return problem.status;
  for (int64_t i = 0; i < num_tokens; ++i) {
    if (slots[i] < 0) continue;
    for (int32_t head = 0; head < pages->num_kv_heads; ++head) {
      const PageRow row = row_of_slot(*pages, slots[i], head);
      for (const Side side : {Side::kKeys, Side::kValues}) {
        const void* base = side == Side::kKeys ? pages->keys : pages->values;
        const auto* codes = static_cast<const uint8_t*>(base) + row_offset(*pages, row);
        for (int32_t d = 0; d < pages->head_dim; ++d)
          *nan_codes += is_nan_code(pages->type, codes[d]);
        *bad_scales += is_bad_scale(*pages, row, side);
      }
    }
  }
  return KVB_OK;
}
