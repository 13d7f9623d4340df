#include "kernels/common/cuda_launch.h"
#include "kernels/pages/copy.h"

namespace kvbudget::kernels {
namespace {

/// The runtime knows from the pointers which side is the host's.
auto copy_on(void* stream) {
  return [=](void* to, const void* from, uint64_t bytes) {
    return status_of(
        cudaMemcpyAsync(to, from, bytes, cudaMemcpyDefault, static_cast<cudaStream_t>(stream)));
  };
}

}  // namespace
}  // namespace kvbudget::kernels

extern "C" int kvb_copy_pages(const kvb_copy_args* args, void* stream) {
  using namespace kvbudget::kernels;
  if (const Problem problem = check_copy(args)) return problem.status;
  if (args->num_pairs == 0) return KVB_OK;
  if (!cuda_available()) return KVB_CUDA_UNAVAILABLE;
  return copy_runs(*args, copy_on(stream));
}

extern "C" int kvb_swap_pages(const kvb_swap_args* args, void* stream) {
  using namespace kvbudget::kernels;
  if (const Problem problem = check_swap(args)) return problem.status;
  if (args->num_pairs == 0 || args->num_layers == 0) return KVB_OK;
  if (!cuda_available()) return KVB_CUDA_UNAVAILABLE;
  return swap_runs(*args, copy_on(stream));
}
