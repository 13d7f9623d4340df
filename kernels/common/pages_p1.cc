#include "kernels/common/check.h"
#include "kernels/layout/kv_page.h"

using namespace kvbudget;

extern "C" int64_t kvb_page_bytes(int32_t block_tokens, int32_t head_dim, int32_t scales) {
  if (block_tokens <= 0 || head_dim <= 0 || scales < KVB_SCALES_NONE ||
      scales > KVB_SCALES_TOKEN_HEAD_F32)
    return 0;
  return static_cast<int64_t>(
      layout::page_bytes(static_cast<uint64_t>(block_tokens), static_cast<uint64_t>(head_dim),
                         static_cast<uint64_t>(kernels::scale_bytes(scales))));
}

extern "C" int kvb_pages_p1(void* base, int64_t num_blocks, int32_t num_kv_heads,
                            int32_t block_tokens, int32_t head_dim, int32_t scales, int32_t swizzle,
                            kvb_pages* pages) {
  const int64_t page = kvb_page_bytes(block_tokens, head_dim, scales);
  if (base == nullptr || pages == nullptr || page == 0) return KVB_INVALID_ARGUMENT;
  auto* bytes = static_cast<uint8_t*>(base);
  *pages = kvb_pages{};
  pages->struct_bytes = sizeof(kvb_pages);
  pages->abi_version = KVB_ABI_VERSION;
  pages->keys = bytes;
  pages->values = bytes + head_dim;
  pages->token_stride = 2 * int64_t{head_dim};
  pages->head_stride = page;
  pages->block_stride = page * num_kv_heads;
  pages->num_blocks = num_blocks;
  pages->num_kv_heads = num_kv_heads;
  pages->block_tokens = block_tokens;
  pages->head_dim = head_dim;
  pages->type = KVB_FLOAT8_E4M3;
  pages->scales = scales;
  pages->swizzle = swizzle;
  if (!kernels::has_token_scales(scales)) return KVB_OK;
  const int64_t width = kernels::scale_bytes(scales);
  uint8_t* scale_base = bytes + layout::key_scales_offset(static_cast<uint64_t>(block_tokens),
                                                          static_cast<uint64_t>(head_dim));
  pages->key_scales = scale_base;
  pages->value_scales = scale_base + block_tokens * width;
  pages->scale_token_stride = width;
  pages->scale_head_stride = page;
  pages->scale_block_stride = pages->block_stride;
  return KVB_OK;
}

extern "C" const char* kvb_explain_pages(const kvb_pages* pages) {
  if (pages == nullptr) return kernels::invalid("the struct is null").why;
  return kernels::check_pages(*pages).why;
}
