#include "kernels/common/cuda_launch.h"
#include "kernels/pages/copy.h"

extern "C" int kvb_copy_pages(const kvb_copy_args* args, void* stream) {
  using namespace kvbudget::kernels;
  if (const Problem problem = check_copy(args)) return problem.status;
  if (args->num_pairs == 0) return KVB_OK;
  if (!cuda_available()) return KVB_CUDA_UNAVAILABLE;
  return copy_runs(*args, [=](void* to, const void* from, uint64_t bytes) {
    return status_of(
        cudaMemcpyAsync(to, from, bytes, cudaMemcpyDefault, static_cast<cudaStream_t>(stream)));
  });
}
