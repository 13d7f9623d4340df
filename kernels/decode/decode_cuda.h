#pragma once

#include <cuda_runtime_api.h>

#include "kernels/include/kvbudget_kernels.h"

namespace kvbudget::kernels {

cudaError_t launch_decode_64(const kvb_decode_args& args, cudaStream_t stream);
cudaError_t launch_decode_96(const kvb_decode_args& args, cudaStream_t stream);
cudaError_t launch_decode_128(const kvb_decode_args& args, cudaStream_t stream);
cudaError_t launch_decode_256(const kvb_decode_args& args, cudaStream_t stream);

}  // namespace kvbudget::kernels
