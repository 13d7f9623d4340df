#include "kernels/pages/read_row.h"

#include <algorithm>
#include <cstring>

#include "kernels/common/check.h"
#include "kernels/common/scale.h"

namespace kvbudget::kernels {
namespace {

const void* scales_of(const kvb_pages& pages, Side side) {
  return side == Side::kKeys ? pages.key_scales : pages.value_scales;
}

template <ElementType kType>
void load_as(const void* from, int64_t count, float* to) {
  const auto* elements = static_cast<const typename Element<kType>::Storage*>(from);
  for (int64_t i = 0; i < count; ++i) to[i] = Element<kType>::load(elements[i]);
}

template <ElementType kType>
void store_as(const float* from, int64_t count, void* to) {
  auto* elements = static_cast<typename Element<kType>::Storage*>(to);
  for (int64_t i = 0; i < count; ++i) elements[i] = Element<kType>::store(from[i]);
}

}  // namespace

float row_scale(const kvb_pages& pages, const PageRow& row, Side side) {
  const void* scales = scales_of(pages, side);
  if (pages.scales == KVB_SCALES_NONE) return 1.f;
  if (!has_token_scales(pages.scales))
    return static_cast<const float*>(scales)[pages.scales == KVB_SCALES_HEAD ? row.head : 0];
  const auto* at = static_cast<const uint8_t*>(scales) + scale_offset(pages, row);
  if (pages.scales == KVB_SCALES_TOKEN_HEAD_E8M0) return scale_of_code(*at);
  float scale;
  std::memcpy(&scale, at, sizeof scale);
  return scale;
}

void read_row(const kvb_pages& pages, const PageRow& row, Side side, float* to) {
  const auto* base = static_cast<const uint8_t*>(side == Side::kKeys ? pages.keys : pages.values);
  const uint8_t* from = base + row_offset(pages, row);
  if (pages.type == KVB_BFLOAT16) {
    load_as<ElementType::kBFloat16>(from, pages.head_dim, to);
    return;
  }
  const float scale = row_scale(pages, row, side);
  const auto token = static_cast<uint32_t>(row.token);
  for (int32_t d = 0; d < pages.head_dim; ++d) {
    const auto unit = static_cast<uint32_t>(d) / layout::kUnitBytes;
    const uint32_t at = pages.swizzle ? layout::swizzled_unit(unit, token) : unit;
    const uint8_t code =
        from[at * layout::kUnitBytes + static_cast<uint32_t>(d) % layout::kUnitBytes];
    to[d] = scale * (pages.type == KVB_FLOAT8_E4M3 ? decode_fp8<ElementType::kFloat8E4M3>(code)
                                                   : decode_fp8<ElementType::kFloat8E5M2>(code));
  }
}

void load_elements(const void* from, int64_t count, int32_t type, float* to) {
  if (type == KVB_FLOAT32)
    load_as<ElementType::kFloat32>(from, count, to);
  else if (type == KVB_FLOAT16)
    load_as<ElementType::kFloat16>(from, count, to);
  else
    load_as<ElementType::kBFloat16>(from, count, to);
}

void store_elements(const float* from, int64_t count, int32_t type, void* to) {
  if (type == KVB_FLOAT32)
    store_as<ElementType::kFloat32>(from, count, to);
  else if (type == KVB_FLOAT16)
    store_as<ElementType::kFloat16>(from, count, to);
  else
    store_as<ElementType::kBFloat16>(from, count, to);
}

}  // namespace kvbudget::kernels
