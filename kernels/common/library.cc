// What the library says of itself.
#include "kernels/include/kvbudget_kernels.h"

extern "C" uint32_t kvb_abi_version(void) { return KVB_ABI_VERSION; }

extern "C" const char* kvb_status_name(int status) {
  switch (status) {
    case KVB_OK:
      return "ok";
    case KVB_INVALID_ARGUMENT:
      return "invalid argument";
    case KVB_UNSUPPORTED:
      return "unsupported";
    case KVB_CUDA_UNAVAILABLE:
      return "cuda: unavailable";
    case KVB_CUDA_ERROR:
      return "cuda: error";
    case KVB_OUT_OF_MEMORY:
      return "out of memory";
    default:
      return "unknown status";
  }
}
