#include "kernels/common/cuda_launch.h"
#include "kernels/decode/check.h"
#include "kernels/decode/decode_cuda.h"

namespace kvbudget::kernels {
namespace {

/// What the GPU asks for beyond the CPU: its types, 16-byte loads, 32-bit offsets inside a block.
Problem check_gpu(const kvb_decode_args& a) {
  const kvb_pages& p = a.pages;
  if (!is_fp8(p.type)) return unsupported("on the GPU pages hold FP8");
  if (a.query_type == KVB_FLOAT32) return unsupported("on the GPU queries have 16 bits");
  if (!aligned(16, {p.keys, p.values}) ||
      !aligned(16, {p.block_stride, p.head_stride, p.token_stride}))
    return unsupported("rows of the pages are not aligned to 16 bytes");
  if (p.token_stride > INT32_MAX / 128) return unsupported("token_stride is too large");
  if (has_token_scales(p.scales) && p.scale_token_stride > INT32_MAX / 128)
    return unsupported("scale_token_stride is too large");
  if (!aligned(8, {a.queries}) || !aligned(8, {2 * a.query_token_stride, 2 * a.query_head_stride}))
    return unsupported("queries are not aligned to 8 bytes");
  return {};
}

Problem check_plan(const kvb_decode_args& a) {
  const kvb_decode_plan& plan = a.plan;
  if (const Problem problem = check_head(&plan)) return problem;
  if (plan.work == nullptr || plan.workspace == nullptr) return invalid("the plan has no memory");
  if (plan.num_work < a.num_sequences) return invalid("the plan has fewer pieces than sequences");
  if (plan.split_tokens < 64 || plan.split_tokens % 64 != 0)
    return invalid("split_tokens is not a positive multiple of 64");
  const int64_t needed = int64_t{plan.num_work} * a.query_tokens * a.num_query_heads *
                         (a.pages.head_dim + 2) * static_cast<int64_t>(sizeof(float));
  if (plan.workspace_bytes < needed) return invalid("the workspace is too small");
  return {};
}

cudaError_t launch(const kvb_decode_args& a, cudaStream_t stream) {
  switch (a.pages.head_dim) {
    case 64:
      return launch_decode_64(a, stream);
    case 96:
      return launch_decode_96(a, stream);
    case 128:
      return launch_decode_128(a, stream);
    default:
      return launch_decode_256(a, stream);
  }
}

}  // namespace
}  // namespace kvbudget::kernels

extern "C" int kvb_decode(const kvb_decode_args* args, void* stream) {
  using namespace kvbudget::kernels;
  if (const Problem problem = check_decode(args)) return problem.status;
  if (args->num_sequences == 0) return KVB_OK;
  if (const Problem problem = check_gpu(*args)) return problem.status;
  if (const Problem problem = check_plan(*args)) return problem.status;
  if (!cuda_available()) return KVB_CUDA_UNAVAILABLE;
  return status_of(launch(*args, static_cast<cudaStream_t>(stream)));
}
