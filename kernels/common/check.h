// What is wrong with an argument struct: a status and words. Checked before anything is read
// through it, on the host, without touching what the pointers point to.
#pragma once

#include "kernels/include/kvbudget_kernels.h"

namespace kvbudget::kernels {

struct Problem {
  kvb_status status = KVB_OK;
  const char* why = nullptr;  ///< static text, null without a problem

  explicit operator bool() const { return status != KVB_OK; }
};

constexpr Problem invalid(const char* why) { return {KVB_INVALID_ARGUMENT, why}; }
constexpr Problem unsupported(const char* why) { return {KVB_UNSUPPORTED, why}; }

/// A struct's head: present, of this ABI, not smaller than this library's.
template <typename Args>
Problem check_head(const Args* args) {
  if (args == nullptr) return invalid("the struct is null");
  if (args->abi_version != KVB_ABI_VERSION) return unsupported("abi_version is not this library's");
  if (args->struct_bytes < sizeof(Args)) return invalid("struct_bytes is too small");
  return {};
}

Problem check_pages(const kvb_pages& pages);

constexpr bool is_fp8(int32_t type) { return type == KVB_FLOAT8_E4M3 || type == KVB_FLOAT8_E5M2; }
constexpr bool has_token_scales(int32_t scales) {
  return scales == KVB_SCALES_TOKEN_HEAD_E8M0 || scales == KVB_SCALES_TOKEN_HEAD_F32;
}
constexpr int32_t scale_bytes(int32_t scales) {
  return scales == KVB_SCALES_TOKEN_HEAD_E8M0 ? 1 : scales == KVB_SCALES_TOKEN_HEAD_F32 ? 4 : 0;
}
constexpr int32_t element_bytes(int32_t type) {
  return type == KVB_FLOAT32 ? 4 : is_fp8(type) ? 1 : 2;
}
constexpr bool is_input_type(int32_t type) {
  return type == KVB_FLOAT32 || type == KVB_FLOAT16 || type == KVB_BFLOAT16;
}

}  // namespace kvbudget::kernels
