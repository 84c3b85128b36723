/* Device functions of several types. A host compiler only has to know them. */
#ifndef DSLC_DEVICE_OVERLOADS_H
#define DSLC_DEVICE_OVERLOADS_H

__device__ double nan(const char *);
__device__ float nanf(const char *);

#define DSLC_ATOMIC_SCOPES(name, type)                                                                                             \
    __device__ type name(type *, type);                                                                                            \
    __device__ type name##_block(type *, type);                                                                                    \
    __device__ type name##_system(type *, type);
#define DSLC_ATOMIC_INTEGERS(name) DSLC_ATOMIC_SCOPES(name, int) DSLC_ATOMIC_SCOPES(name, unsigned int) DSLC_ATOMIC_SCOPES(name, unsigned long long)
DSLC_ATOMIC_INTEGERS(atomicAdd)
DSLC_ATOMIC_SCOPES(atomicAdd, float)
DSLC_ATOMIC_SCOPES(atomicAdd, double)
DSLC_ATOMIC_SCOPES(atomicSub, int)
DSLC_ATOMIC_SCOPES(atomicSub, unsigned int)
DSLC_ATOMIC_INTEGERS(atomicExch)
DSLC_ATOMIC_SCOPES(atomicExch, float)
DSLC_ATOMIC_INTEGERS(atomicMin)
DSLC_ATOMIC_SCOPES(atomicMin, long long)
DSLC_ATOMIC_INTEGERS(atomicMax)
DSLC_ATOMIC_SCOPES(atomicMax, long long)
DSLC_ATOMIC_INTEGERS(atomicAnd)
DSLC_ATOMIC_INTEGERS(atomicOr)
DSLC_ATOMIC_INTEGERS(atomicXor)
DSLC_ATOMIC_SCOPES(atomicInc, unsigned int)
DSLC_ATOMIC_SCOPES(atomicDec, unsigned int)
#define DSLC_ATOMIC_CAS(type)                                                                                                      \
    __device__ type atomicCAS(type *, type, type);                                                                                 \
    __device__ type atomicCAS_block(type *, type, type);                                                                           \
    __device__ type atomicCAS_system(type *, type, type);
DSLC_ATOMIC_CAS(int)
DSLC_ATOMIC_CAS(unsigned int)
DSLC_ATOMIC_CAS(unsigned long long)
DSLC_ATOMIC_CAS(unsigned short)
#undef DSLC_ATOMIC_CAS
#undef DSLC_ATOMIC_INTEGERS
#undef DSLC_ATOMIC_SCOPES

#define DSLC_SHUFFLES(type)                                                                                                        \
    __device__ type __shfl_sync(unsigned int, type, int, int = 32);                                                                \
    __device__ type __shfl_up_sync(unsigned int, type, unsigned int, int = 32);                                                    \
    __device__ type __shfl_down_sync(unsigned int, type, unsigned int, int = 32);                                                  \
    __device__ type __shfl_xor_sync(unsigned int, type, int, int = 32);                                                            \
    __device__ type __shfl(type, int, int = 32);                                                                                   \
    __device__ type __shfl_up(type, unsigned int, int = 32);                                                                       \
    __device__ type __shfl_down(type, unsigned int, int = 32);                                                                     \
    __device__ type __shfl_xor(type, int, int = 32);                                                                               \
    __device__ unsigned int __match_any_sync(unsigned int, type);                                                                  \
    __device__ unsigned int __match_all_sync(unsigned int, type, int *);
DSLC_SHUFFLES(int)
DSLC_SHUFFLES(unsigned int)
DSLC_SHUFFLES(long)
DSLC_SHUFFLES(unsigned long)
DSLC_SHUFFLES(long long)
DSLC_SHUFFLES(unsigned long long)
DSLC_SHUFFLES(float)
DSLC_SHUFFLES(double)
#undef DSLC_SHUFFLES
#define DSLC_REDUCE(name)                                                                                                          \
    __device__ int name(unsigned int, int);                                                                                        \
    __device__ unsigned int name(unsigned int, unsigned int);
DSLC_REDUCE(__reduce_add_sync)
DSLC_REDUCE(__reduce_min_sync)
DSLC_REDUCE(__reduce_max_sync)
#undef DSLC_REDUCE
__device__ unsigned int __reduce_and_sync(unsigned int, unsigned int);
__device__ unsigned int __reduce_or_sync(unsigned int, unsigned int);
__device__ unsigned int __reduce_xor_sync(unsigned int, unsigned int);

template <class T> __device__ T __ldg(const T *);
template <class T> __device__ T __ldca(const T *);
template <class T> __device__ T __ldcg(const T *);
template <class T> __device__ T __ldcs(const T *);
template <class T> __device__ T __ldlu(const T *);
template <class T> __device__ T __ldcv(const T *);
template <class T> __device__ void __stwb(T *, T);
template <class T> __device__ void __stcg(T *, T);
template <class T> __device__ void __stcs(T *, T);
template <class T> __device__ void __stwt(T *, T);

__device__ size_t __cvta_generic_to_shared(const void *);
__device__ size_t __cvta_generic_to_global(const void *);
__device__ void *__cvta_shared_to_generic(size_t);
/* The runtime's functions that device code may name. */
template <class T> __device__ cudaError_t cudaMalloc(T **, size_t);
__device__ cudaError_t cudaFree(void *);
__device__ cudaError_t cudaDeviceSynchronize();
__device__ cudaError_t cudaGetLastError();
__device__ cudaError_t cudaPeekAtLastError();
__device__ const char *cudaGetErrorString(cudaError_t);
__device__ cudaError_t cudaGetDevice(int *);
__device__ cudaError_t cudaMemcpyAsync(void *, const void *, size_t, cudaMemcpyKind, cudaStream_t = 0);
__device__ cudaError_t cudaMemsetAsync(void *, int, size_t, cudaStream_t = 0);
__device__ cudaError_t cudaStreamCreateWithFlags(cudaStream_t *, unsigned int);
__device__ cudaError_t cudaStreamDestroy(cudaStream_t);
/* C's functions that device code has, too. */
extern "C" {
__device__ int printf(const char *, ...);
__device__ void *malloc(size_t);
__device__ void free(void *);
__device__ void *memcpy(void *, const void *, size_t);
__device__ void *memset(void *, int, size_t);
__device__ void __assert_fail(const char *, const char *, unsigned int, const char *);
__device__ clock_t clock(void);
}

#endif
