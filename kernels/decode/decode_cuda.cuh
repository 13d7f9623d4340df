// Launches of decode for one head dimension: one file each, so that they compile side by side.
#pragma once

#include "kernels/common/device_warp.cuh"
#include "kernels/decode/decode_body.h"
#include "kernels/decode/decode_cuda.h"

namespace kvbudget::kernels {

/// How many blocks share a multiprocessor's registers: 128 registers make four, which is what hides
/// memory's latency; ptxas needs more from sm_100 on, head dimension 256 and two column tiles
/// anywhere.
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 1000
constexpr int kNarrowBlocks = 3;
#else
constexpr int kNarrowBlocks = 4;
#endif
template <int kDim, int kColumnTiles>
inline constexpr int kBlocks = kDim == 256 || kColumnTiles == 2 ? 2 : kNarrowBlocks;

template <int kDim, int kColumnTiles, ElementType kType>
__global__ void __launch_bounds__(32 * kWarps, kBlocks<kDim, kColumnTiles>)
    decode_kernel(const __grid_constant__ kvb_decode_args args, int column_tiles) {
  using Body = DecodeWarp<DeviceWarp, kDim, kColumnTiles, kType>;
  __shared__ float shared[Body::kSharedFloats];
  DeviceWarp machine;
  DecodeWork work;
  const int head = static_cast<int>(blockIdx.y) / column_tiles;
  const int tile = static_cast<int>(blockIdx.y) % column_tiles;
  if (!open_work(machine, args, static_cast<int>(blockIdx.x), head, tile, Body::kColumns, &work))
    return;
  Body body{{machine, args, work}, static_cast<int>(threadIdx.x) / 32, shared};
  body.accumulate();
  __syncthreads();
  body.finish();
}

template <int kDim>
__global__ void __launch_bounds__(32 * kWarps)
    merge_kernel(const __grid_constant__ kvb_decode_args args) {
  DeviceWarp machine;
  const int rows = args.query_tokens * args.num_query_heads;
  const int row = static_cast<int>(blockIdx.x) * kWarps + static_cast<int>(threadIdx.x) / 32;
  if (row >= args.num_sequences * rows) return;
  merge_row_of_pieces<DeviceWarp, kDim>(
      machine, args, row / rows, row % rows / args.num_query_heads, row % args.num_query_heads);
}

template <int kDim, int kColumnTiles, ElementType kType>
cudaError_t launch_pieces(const kvb_decode_args& a, cudaStream_t stream) {
  const int rows = a.query_tokens * (a.num_query_heads / a.pages.num_kv_heads);
  const int column_tiles = (rows + 8 * kColumnTiles - 1) / (8 * kColumnTiles);
  const dim3 grid(static_cast<unsigned>(a.plan.num_work),
                  static_cast<unsigned>(a.pages.num_kv_heads * column_tiles));
  decode_kernel<kDim, kColumnTiles, kType><<<grid, 32 * kWarps, 0, stream>>>(a, column_tiles);
  return cudaGetLastError();
}

template <int kDim>
cudaError_t launch_decode(const kvb_decode_args& a, cudaStream_t stream) {
  constexpr ElementType kE4 = ElementType::kFloat8E4M3;
  constexpr int kWide = kDim == 256 ? 1 : 2;  // head dimension 256 has no registers for two
  const bool wide = a.query_tokens * (a.num_query_heads / a.pages.num_kv_heads) > 8;
  cudaError_t error;
  if (a.pages.type == KVB_FLOAT8_E5M2)
    error = launch_pieces<kDim, 1, ElementType::kFloat8E5M2>(a, stream);
  else if (wide)
    error = launch_pieces<kDim, kWide, kE4>(a, stream);
  else
    error = launch_pieces<kDim, 1, kE4>(a, stream);
  if (error != cudaSuccess) return error;
  const int rows = a.num_sequences * a.query_tokens * a.num_query_heads;
  merge_kernel<kDim><<<(rows + kWarps - 1) / kWarps, 32 * kWarps, 0, stream>>>(a);
  return cudaGetLastError();
}

}  // namespace kvbudget::kernels
