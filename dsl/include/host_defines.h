/* CUDA's words for where code runs and memory is. */
#ifndef DSLC_HOST_DEFINES_H
#define DSLC_HOST_DEFINES_H

#ifdef __CUDACC__
#define __host__ __attribute__((host))
#define __device__ __attribute__((device))
#define __global__ __attribute__((global))
#define __shared__ __attribute__((shared))
#define __constant__ __attribute__((constant))
/* The variable is the host's own: `dslc nvcc` tells the runtime where it is. */
#define __managed__
#define __launch_bounds__(...) __attribute__((launch_bounds(__VA_ARGS__)))
#define __grid_constant__
#define __cluster_dims__(...)
#else
#define __host__
#define __device__
#define __global__
#define __shared__
#define __constant__
#define __managed__
#define __launch_bounds__(...)
#define __grid_constant__
#endif
#define __forceinline__ __inline__ __attribute__((always_inline))
/* `__noinline__` is a word of clang's in CUDA sources; elsewhere C++'s library has it in attributes. */
#define __align__(n) __attribute__((aligned(n)))
#define __builtin_align__(n) __align__(n)
#define __device_builtin__
#define __cudart_builtin__
#define CUDARTAPI

#endif
