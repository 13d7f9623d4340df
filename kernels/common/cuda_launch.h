// What the launchers of all GPU kernels share.
#pragma once

#include <cuda_runtime_api.h>

#include <initializer_list>

#include "kernels/common/check.h"

namespace kvbudget::kernels {

bool cuda_available();  ///< a driver and a device that this library has code for

inline int status_of(cudaError_t error) { return error == cudaSuccess ? KVB_OK : KVB_CUDA_ERROR; }

inline bool aligned(int64_t bytes, std::initializer_list<const void*> pointers) {
  for (const void* p : pointers) {
    if (reinterpret_cast<uintptr_t>(p) % static_cast<uintptr_t>(bytes) != 0) return false;
  }
  return true;
}

inline bool aligned(int64_t bytes, std::initializer_list<int64_t> strides) {
  for (const int64_t stride : strides) {
    if (stride % bytes != 0) return false;
  }
  return true;
}

}  // namespace kvbudget::kernels
