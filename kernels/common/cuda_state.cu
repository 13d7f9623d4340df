#include "kernels/common/cuda_launch.h"

namespace kvbudget::kernels {
namespace {

constexpr int kOldest = 80;  // compute capability

cudaError_t find_device(int* capability) {
  int device = 0;
  int major = 0;
  int minor = 0;
  cudaError_t error = cudaGetDevice(&device);
  if (error == cudaSuccess)
    error = cudaDeviceGetAttribute(&major, cudaDevAttrComputeCapabilityMajor, device);
  if (error == cudaSuccess)
    error = cudaDeviceGetAttribute(&minor, cudaDevAttrComputeCapabilityMinor, device);
  *capability = 10 * major + minor;
  return error;
}

}  // namespace

bool cuda_available() {
  int capability = 0;
  return find_device(&capability) == cudaSuccess && capability >= kOldest;
}

}  // namespace kvbudget::kernels

extern "C" const char* kvb_cuda_state(void) {
  int capability = 0;
  switch (kvbudget::kernels::find_device(&capability)) {
    case cudaSuccess:
      return capability >= kvbudget::kernels::kOldest
                 ? "cuda: available"
                 : "cuda: unavailable (the device is older than compute capability 8.0)";
    case cudaErrorInsufficientDriver:
      return "cuda: unavailable (no driver, or one that is too old)";
    case cudaErrorNoDevice:
      return "cuda: unavailable (no device)";
    default:
      return "cuda: unavailable (the driver reports an error)";
  }
}
