#include "kernels/decode/decode_cuda.cuh"

namespace kvbudget::kernels {

cudaError_t launch_decode_256(const kvb_decode_args& args, cudaStream_t stream) {
  return launch_decode<256>(args, stream);
}

}  // namespace kvbudget::kernels
