// Marks functions that the GPU and the host compile from the same source.
//
// On the host they are always inlined: files compiled for different instruction sets share these
// headers, and an outlined copy would be kept once for all of them by the linker.
#pragma once

#ifdef __CUDACC__
#define KVB_HD __host__ __device__ __forceinline__
#define KVB_HD_BODY __host__ __device__ __forceinline__
#define KVB_UNROLL _Pragma("unroll")
#else
#define KVB_UNROLL
/// For kernel bodies: templates over a machine, which one host file alone instantiates.
#define KVB_HD_BODY inline
#define KVB_HD __attribute__((always_inline)) inline
/// After a lambda's parameters, where a call per use would cost more than the work.
#define KVB_INLINE_LAMBDA __attribute__((always_inline))
#endif
