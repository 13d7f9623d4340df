// Slots of tokens in a paged cache, checked and taken apart: what all helpers on the host begin
// with.
#pragma once

#include "kernels/common/check.h"
#include "kernels/common/page_row.h"

namespace kvbudget::kernels {

inline PageRow row_of_slot(const kvb_pages& pages, int64_t slot, int32_t head) {
  return {slot / pages.block_tokens, head, static_cast<int32_t>(slot % pages.block_tokens)};
}

inline bool slots_fit(const int64_t* slots, int64_t num_tokens, int64_t num_blocks,
                      int64_t block_tokens) {
  for (int64_t i = 0; i < num_tokens; ++i) {
    if (slots[i] >= 0 && slots[i] / block_tokens >= num_blocks) return false;
  }
  return true;
}

inline Problem check_slots(const kvb_pages& pages, const int64_t* slots, int64_t num_tokens) {
  if (num_tokens < 0) return invalid("num_tokens is negative");
  if (num_tokens == 0) return {};
  if (slots == nullptr) return invalid("slots is null");
  if (!slots_fit(slots, num_tokens, pages.num_blocks, pages.block_tokens))
    return invalid("a slot lies beyond the pages");
  return {};
}

}  // namespace kvbudget::kernels
