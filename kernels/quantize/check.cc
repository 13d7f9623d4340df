#include "kernels/quantize/check.h"

namespace kvbudget::kernels {

Problem check_quantize(const kvb_quantize_args* args) {
  if (const Problem problem = check_head(args)) return problem;
  const kvb_quantize_args& a = *args;
  if (const Problem problem = check_pages(a.pages)) return problem;
  if (!is_fp8(a.pages.type)) return unsupported("the quantiser writes FP8 pages only");
  if (!is_input_type(a.type)) return unsupported("type is not float32, float16 or bfloat16");
  if (a.num_tokens < 0) return invalid("num_tokens is negative");
  if (a.num_threads < 0) return invalid("num_threads is negative");
  if (a.num_tokens == 0) return {};
  if (a.keys == nullptr || a.values == nullptr) return invalid("keys or values is null");
  if (a.slots == nullptr) return invalid("slots is null");
  if (a.key_head_stride < a.pages.head_dim || a.value_head_stride < a.pages.head_dim)
    return invalid("a head stride is smaller than head_dim");
  if (a.key_token_stride < 0 || a.value_token_stride < 0)
    return invalid("a token stride is negative");
  return {};
}

}  // namespace kvbudget::kernels

extern "C" const char* kvb_explain_quantize_kv(const kvb_quantize_args* args) {
  return kvbudget::kernels::check_quantize(args).why;
}
