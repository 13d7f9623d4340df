// The GPU's entry points of a library that was built without nvcc.
#include "kernels/include/kvbudget_kernels.h"

extern "C" const char* kvb_cuda_state(void) { return "cuda: unavailable (built without nvcc)"; }

extern "C" int kvb_quantize_kv(const kvb_quantize_args*, void*) { return KVB_CUDA_UNAVAILABLE; }

extern "C" int kvb_decode(const kvb_decode_args*, void*) { return KVB_CUDA_UNAVAILABLE; }

extern "C" int kvb_copy_pages(const kvb_copy_args*, void*) { return KVB_CUDA_UNAVAILABLE; }

extern "C" int kvb_swap_pages(const kvb_swap_args*, void*) { return KVB_CUDA_UNAVAILABLE; }
