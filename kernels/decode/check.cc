#include "kernels/decode/check.h"

#include "kernels/decode/decode_range.h"

namespace kvbudget::kernels {
namespace {

Problem check_heads(const kvb_decode_args& a) {
  if (a.num_query_heads <= 0 || a.num_query_heads % a.pages.num_kv_heads != 0)
    return invalid("num_query_heads is not a multiple of num_kv_heads");
  if (a.num_query_heads / a.pages.num_kv_heads > kMaxGroup)
    return unsupported("more than 16 query heads share a KV head");
  if (a.query_tokens < 1 || a.query_tokens > kMaxQueryTokens)
    return unsupported("query_tokens is not 1 to 8");
  return {};
}

}  // namespace

Problem check_decode_numbers(const kvb_decode_args& a) {
  if (!(a.softmax_scale > 0.f) || !(a.softmax_scale < 1e30f))
    return invalid("softmax_scale is not a positive number");
  if (!(a.soft_cap >= 0.f) || !(a.soft_cap < 1e30f))
    return invalid("soft_cap is negative or not a number");
  if (a.window < 0) return invalid("window is negative");
  if (a.num_threads < 0) return invalid("num_threads is negative");
  if (a.max_length < 0) return invalid("max_length is negative");
  const int64_t blocks = (int64_t{a.max_length} + a.pages.block_tokens - 1) / a.pages.block_tokens;
  if (a.block_table_stride < blocks)
    return invalid("block_table_stride is too small for max_length");
  return {};
}

Problem check_decode_tensors(const kvb_decode_args& a) {
  if (!is_input_type(a.query_type) || !is_input_type(a.output_type))
    return unsupported("query_type or output_type is not float32, float16 or bfloat16");
  if (a.num_sequences < 0) return invalid("num_sequences is negative");
  if (a.num_sequences == 0) return {};
  if (a.queries == nullptr || a.output == nullptr) return invalid("queries or output is null");
  if (a.block_table == nullptr || a.lengths == nullptr)
    return invalid("block_table or lengths is null");
  if (a.query_head_stride < a.pages.head_dim || a.output_head_stride < a.pages.head_dim)
    return invalid("a head stride is smaller than head_dim");
  if (a.query_token_stride < a.pages.head_dim || a.output_token_stride < a.pages.head_dim)
    return invalid("a token stride is smaller than head_dim");
  return {};
}

Problem check_decode(const kvb_decode_args* args) {
  if (const Problem problem = check_head(args)) return problem;
  if (const Problem problem = check_pages(args->pages)) return problem;
  if (const Problem problem = check_heads(*args)) return problem;
  if (const Problem problem = check_decode_numbers(*args)) return problem;
  return check_decode_tensors(*args);
}

}  // namespace kvbudget::kernels

extern "C" const char* kvb_explain_decode(const kvb_decode_args* args) {
  return kvbudget::kernels::check_decode(args).why;
}
