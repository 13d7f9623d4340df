#include "kernels/common/cuda_launch.h"
#include "kernels/common/device_warp.cuh"
#include "kernels/quantize/check.h"
#include "kernels/quantize/quantize_body.h"

namespace kvbudget::kernels {
namespace {

constexpr int kWarpsPerBlock = 8;

__global__ void __launch_bounds__(32 * kWarpsPerBlock)
    quantize_kernel(const __grid_constant__ kvb_quantize_args args) {
  DeviceWarp machine;
  const int64_t row = static_cast<int64_t>(blockIdx.x) * kWarpsPerBlock + threadIdx.x / 32;
  if (row >= args.num_tokens * args.pages.num_kv_heads) return;
  QuantizeWarp<DeviceWarp>{machine, args}.run(row / args.pages.num_kv_heads,
                                              static_cast<int32_t>(row % args.pages.num_kv_heads));
}

/// What 16-byte loads and 8-byte stores need.
Problem check_alignment(const kvb_quantize_args& a) {
  const int64_t width = element_bytes(a.type);
  if (!aligned(16, {a.keys, a.values}) ||
      !aligned(16, {a.key_token_stride * width, a.key_head_stride * width,
                    a.value_token_stride * width, a.value_head_stride * width}))
    return unsupported("keys or values are not aligned to 16 bytes");
  const kvb_pages& p = a.pages;
  if (!aligned(8, {p.keys, p.values}) ||
      !aligned(8, {p.block_stride, p.head_stride, p.token_stride}))
    return unsupported("rows of the pages are not aligned to 8 bytes");
  return {};
}

}  // namespace
}  // namespace kvbudget::kernels

extern "C" int kvb_quantize_kv(const kvb_quantize_args* args, void* stream) {
  using namespace kvbudget::kernels;
  if (const Problem problem = check_quantize(args)) return problem.status;
  if (args->num_tokens == 0) return KVB_OK;
  if (const Problem problem = check_alignment(*args)) return problem.status;
  if (!cuda_available()) return KVB_CUDA_UNAVAILABLE;
  const int64_t rows = args->num_tokens * args->pages.num_kv_heads;
  const int64_t blocks = (rows + kWarpsPerBlock - 1) / kWarpsPerBlock;
  if (blocks > INT32_MAX) return KVB_UNSUPPORTED;
  quantize_kernel<<<static_cast<unsigned>(blocks), 32 * kWarpsPerBlock, 0,
                    static_cast<cudaStream_t>(stream)>>>(*args);
  return status_of(cudaGetLastError());
}
