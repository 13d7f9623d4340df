// Pages back to dense tensors, and from one format to another by way of floats.
#include <algorithm>

#include "kernels/common/parallel_for.h"
#include "kernels/pages/read_row.h"
#include "kernels/pages/slots.h"
#include "kernels/quantize/quantize_cpu.h"

namespace kvbudget::kernels {
namespace {

constexpr int32_t kMaxDim = 256;
constexpr int64_t kTokensPerTask = 64;

Problem check_gather(const kvb_gather_args* args) {
  if (const Problem problem = check_head(args)) return problem;
  const kvb_gather_args& a = *args;
  if (const Problem problem = check_pages(a.pages)) return problem;
  if (const Problem problem = check_slots(a.pages, a.slots, a.num_tokens)) return problem;
  if (!is_input_type(a.type)) return unsupported("type is not float32, float16 or bfloat16");
  if (a.num_threads < 0) return invalid("num_threads is negative");
  if (a.num_tokens > 0 && (a.keys == nullptr || a.values == nullptr))
    return invalid("keys or values is null");
  if (a.key_head_stride < a.pages.head_dim || a.value_head_stride < a.pages.head_dim ||
      a.key_token_stride < a.pages.head_dim || a.value_token_stride < a.pages.head_dim)
    return invalid("a stride is smaller than head_dim");
  return {};
}

Problem check_convert(const kvb_convert_args* args) {
  if (const Problem problem = check_head(args)) return problem;
  const kvb_convert_args& a = *args;
  for (const kvb_pages* pages : {&a.from, &a.to}) {
    if (const Problem problem = check_pages(*pages)) return problem;
  }
  if (!is_fp8(a.to.type)) return unsupported("conversions write FP8 pages only");
  if (a.from.num_kv_heads != a.to.num_kv_heads || a.from.head_dim != a.to.head_dim)
    return invalid("the caches differ in heads or head_dim");
  if (const Problem problem = check_slots(a.from, a.from_slots, a.num_tokens)) return problem;
  if (a.num_threads < 0) return invalid("num_threads is negative");
  return check_slots(a.to, a.to_slots, a.num_tokens);
}

void gather_token(const kvb_gather_args& a, int64_t token) {
  if (a.slots[token] < 0) return;
  float row[kMaxDim];
  for (int32_t head = 0; head < a.pages.num_kv_heads; ++head) {
    const PageRow at = row_of_slot(a.pages, a.slots[token], head);
    const int64_t width = element_bytes(a.type);
    read_row(a.pages, at, Side::kKeys, row);
    store_elements(row, a.pages.head_dim, a.type,
                   static_cast<uint8_t*>(a.keys) +
                       (token * a.key_token_stride + head * a.key_head_stride) * width);
    read_row(a.pages, at, Side::kValues, row);
    store_elements(row, a.pages.head_dim, a.type,
                   static_cast<uint8_t*>(a.values) +
                       (token * a.value_token_stride + head * a.value_head_stride) * width);
  }
}

void convert_token(const kvb_convert_args& a, int64_t token) {
  if (a.from_slots[token] < 0 || a.to_slots[token] < 0) return;
  float keys[kMaxDim], values[kMaxDim];
  for (int32_t head = 0; head < a.from.num_kv_heads; ++head) {
    const PageRow from = row_of_slot(a.from, a.from_slots[token], head);
    read_row(a.from, from, Side::kKeys, keys);
    read_row(a.from, from, Side::kValues, values);
    quantize_one(a.to, row_of_slot(a.to, a.to_slots[token], head), keys, values);
  }
}

template <typename Work>
void each_token(int32_t threads, int64_t num_tokens, const Work& work) {
  parallel_for(threads, (num_tokens + kTokensPerTask - 1) / kTokensPerTask, [&](int64_t task) {
    const int64_t end = std::min(num_tokens, (task + 1) * kTokensPerTask);
    for (int64_t token = task * kTokensPerTask; token < end; ++token) work(token);
  });
}

}  // namespace
}  // namespace kvbudget::kernels

extern "C" int kvb_gather_dequantize_cpu(const kvb_gather_args* args, void* stream) {
  using namespace kvbudget::kernels;
  if (const Problem problem = check_gather(args)) return problem.status;
  if (stream != nullptr) return KVB_INVALID_ARGUMENT;
  each_token(args->num_threads, args->num_tokens,
             [&](int64_t token) { gather_token(*args, token); });
  return KVB_OK;
}

extern "C" int kvb_convert_pages_cpu(const kvb_convert_args* args, void* stream) {
  using namespace kvbudget::kernels;
  if (const Problem problem = check_convert(args)) return problem.status;
  if (stream != nullptr) return KVB_INVALID_ARGUMENT;
  each_token(args->num_threads, args->num_tokens,
             [&](int64_t token) { convert_token(*args, token); });
  return KVB_OK;
}
