/* CUDA's runtime for C++: what every CUDA source sees without including anything. */
#ifndef DSLC_CUDA_RUNTIME_H
#define DSLC_CUDA_RUNTIME_H
/* What helper headers ask for. */
#define __CUDA_RUNTIME_H__

#include "host_defines.h"
#include <stddef.h>
#include <stdint.h>
#include "vector_types.h"
#if defined(__cplusplus) && defined(__CUDACC__)
/* Before C++'s library, whose names in `std` are then those of both sides. */
#include "dslc/device_functions.h"
#ifdef DSLC_DEVICE_CODE
#include "dslc/device_math.h"
#endif
#endif
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#ifdef __cplusplus
#include <assert.h>
#include <cmath>
#include <cstdlib>
#include <new>
#include <utility>
#endif
#include "cuda_runtime_api.h"
#include "vector_functions.h"

#ifdef __cplusplus

/* The forms of the runtime's functions that take any pointer, a variable, or a kernel. */
template <class T> inline cudaError_t cudaMalloc(T **pointer, size_t bytes, int line = __builtin_LINE(), const char *file = __builtin_FILE()) { __dslcAt(line, file); return cudaMalloc((void **)(void *)pointer, bytes); }
template <class T> inline cudaError_t cudaMallocManaged(T **pointer, size_t bytes, unsigned int flags = cudaMemAttachGlobal, int line = __builtin_LINE(), const char *file = __builtin_FILE()) { __dslcAt(line, file); return cudaMallocManaged((void **)(void *)pointer, bytes, flags); }
template <class T> inline cudaError_t cudaMallocHost(T **pointer, size_t bytes, unsigned int flags = 0, int line = __builtin_LINE(), const char *file = __builtin_FILE()) { __dslcAt(line, file); return cudaHostAlloc((void **)(void *)pointer, bytes, flags); }
template <class T> inline cudaError_t cudaHostAlloc(T **pointer, size_t bytes, unsigned int flags, int line = __builtin_LINE(), const char *file = __builtin_FILE()) { __dslcAt(line, file); return cudaHostAlloc((void **)(void *)pointer, bytes, flags); }
template <class T> inline cudaError_t cudaMallocAsync(T **pointer, size_t bytes, cudaStream_t stream, int line = __builtin_LINE(), const char *file = __builtin_FILE()) { __dslcAt(line, file); return cudaMallocAsync((void **)(void *)pointer, bytes, stream); }
/* Copies say where they are. Where a kind is no constant, and where a program takes their address, the runtime's own functions are meant. */
#ifdef __clang__
#define DSLC_IF_CONSTANT __attribute__((enable_if(kind <= cudaMemcpyDefault, "")))
inline cudaError_t cudaMemcpy(void *to, const void *from, size_t bytes, cudaMemcpyKind kind, int line = __builtin_LINE(), const char *file = __builtin_FILE()) DSLC_IF_CONSTANT { __dslcAt(line, file); return cudaMemcpy(to, from, bytes, kind); }
inline cudaError_t cudaMemcpyAsync(void *to, const void *from, size_t bytes, cudaMemcpyKind kind, cudaStream_t stream = 0, int line = __builtin_LINE(), const char *file = __builtin_FILE()) DSLC_IF_CONSTANT { __dslcAt(line, file); return cudaMemcpyAsync(to, from, bytes, kind, stream); }
inline cudaError_t cudaMemcpy2D(void *to, size_t to_pitch, const void *from, size_t from_pitch, size_t width, size_t height, cudaMemcpyKind kind, int line = __builtin_LINE(), const char *file = __builtin_FILE()) DSLC_IF_CONSTANT { __dslcAt(line, file); return cudaMemcpy2D(to, to_pitch, from, from_pitch, width, height, kind); }
inline cudaError_t cudaMemcpy2DAsync(void *to, size_t to_pitch, const void *from, size_t from_pitch, size_t width, size_t height, cudaMemcpyKind kind, cudaStream_t stream = 0, int line = __builtin_LINE(), const char *file = __builtin_FILE()) DSLC_IF_CONSTANT { __dslcAt(line, file); return cudaMemcpy2DAsync(to, to_pitch, from, from_pitch, width, height, kind, stream); }
#undef DSLC_IF_CONSTANT
#endif
template <class T> inline cudaError_t cudaMemset(T *pointer, int value, size_t bytes, int line = __builtin_LINE(), const char *file = __builtin_FILE()) { __dslcAt(line, file); return cudaMemset(static_cast<void *>(pointer), value, bytes); }
template <class T> inline cudaError_t cudaMemsetAsync(T *pointer, int value, size_t bytes, cudaStream_t stream = 0, int line = __builtin_LINE(), const char *file = __builtin_FILE()) { __dslcAt(line, file); return cudaMemsetAsync(static_cast<void *>(pointer), value, bytes, stream); }
template <class T> inline cudaError_t cudaFreeAsync(T *pointer, cudaStream_t stream, int line = __builtin_LINE(), const char *file = __builtin_FILE()) { __dslcAt(line, file); return cudaFreeAsync(static_cast<void *>(pointer), stream); }
template <class T> inline cudaError_t cudaMallocPitch(T **pointer, size_t *pitch, size_t width, size_t height) { return cudaMallocPitch((void **)(void *)pointer, pitch, width, height); }
template <class T> inline cudaError_t cudaHostGetDevicePointer(T **device, void *host, unsigned int flags) { return cudaHostGetDevicePointer((void **)(void *)device, host, flags); }
template <class T> inline cudaError_t cudaMemcpyToSymbol(const T &symbol, const void *from, size_t bytes, size_t offset = 0, cudaMemcpyKind kind = cudaMemcpyHostToDevice, int line = __builtin_LINE(), const char *file = __builtin_FILE()) { __dslcAt(line, file); return cudaMemcpyToSymbol((const void *)&symbol, from, bytes, offset, kind); }
template <class T> inline cudaError_t cudaMemcpyFromSymbol(void *to, const T &symbol, size_t bytes, size_t offset = 0, cudaMemcpyKind kind = cudaMemcpyDeviceToHost, int line = __builtin_LINE(), const char *file = __builtin_FILE()) { __dslcAt(line, file); return cudaMemcpyFromSymbol(to, (const void *)&symbol, bytes, offset, kind); }
template <class T> inline cudaError_t cudaMemcpyToSymbolAsync(const T &symbol, const void *from, size_t bytes, size_t offset, cudaMemcpyKind kind, cudaStream_t stream = 0, int line = __builtin_LINE(), const char *file = __builtin_FILE()) { __dslcAt(line, file); return cudaMemcpyToSymbolAsync((const void *)&symbol, from, bytes, offset, kind, stream); }
template <class T> inline cudaError_t cudaMemcpyFromSymbolAsync(void *to, const T &symbol, size_t bytes, size_t offset, cudaMemcpyKind kind, cudaStream_t stream = 0, int line = __builtin_LINE(), const char *file = __builtin_FILE()) { __dslcAt(line, file); return cudaMemcpyFromSymbolAsync(to, (const void *)&symbol, bytes, offset, kind, stream); }
template <class T> inline cudaError_t cudaGetSymbolAddress(void **pointer, const T &symbol) { return cudaGetSymbolAddress(pointer, (const void *)&symbol); }
template <class P, class T> inline cudaError_t cudaGetSymbolAddress(P **pointer, const T &symbol) { return cudaGetSymbolAddress((void **)(void *)pointer, (const void *)&symbol); }
template <class T> inline cudaError_t cudaGetSymbolSize(size_t *bytes, const T &symbol) { return cudaGetSymbolSize(bytes, (const void *)&symbol); }
template <class T> inline cudaError_t cudaLaunchKernel(T *function, dim3 grid, dim3 block, void **args, size_t shared_bytes = 0, cudaStream_t stream = 0) { return cudaLaunchKernel((const void *)function, grid, block, args, shared_bytes, stream); }
template <class T> inline cudaError_t cudaLaunchCooperativeKernel(T *function, dim3 grid, dim3 block, void **args, size_t shared_bytes = 0, cudaStream_t stream = 0) { return cudaLaunchCooperativeKernel((const void *)function, grid, block, args, shared_bytes, stream); }
template <class T> inline cudaError_t cudaFuncSetAttribute(T *function, cudaFuncAttribute attribute, int value) { return cudaFuncSetAttribute((const void *)function, attribute, value); }
template <class T> inline cudaError_t cudaFuncGetAttributes(cudaFuncAttributes *attributes, T *function) { return cudaFuncGetAttributes(attributes, (const void *)function); }
template <class T> inline cudaError_t cudaFuncSetCacheConfig(T *function, cudaFuncCache config) { return cudaFuncSetCacheConfig((const void *)function, config); }
template <class T> inline cudaError_t cudaFuncSetSharedMemConfig(T *function, cudaSharedMemConfig config) { return cudaFuncSetSharedMemConfig((const void *)function, config); }
template <class T> inline cudaError_t cudaOccupancyMaxActiveBlocksPerMultiprocessor(int *blocks, T function, int threads, size_t shared_bytes) { return cudaOccupancyMaxActiveBlocksPerMultiprocessor(blocks, (const void *)function, threads, shared_bytes); }
template <class T> inline cudaError_t cudaOccupancyMaxActiveBlocksPerMultiprocessorWithFlags(int *blocks, T function, int threads, size_t shared_bytes, unsigned int flags) { return cudaOccupancyMaxActiveBlocksPerMultiprocessorWithFlags(blocks, (const void *)function, threads, shared_bytes, flags); }
template <class T> inline cudaError_t cudaOccupancyMaxPotentialBlockSize(int *grid, int *block, T function, size_t shared_bytes = 0, int limit = 0) { return __dslcPotentialBlockSize(grid, block, (const void *)function, shared_bytes, limit); }
template <class T> inline cudaError_t cudaOccupancyMaxPotentialBlockSizeWithFlags(int *grid, int *block, T function, size_t shared_bytes = 0, int limit = 0, unsigned int = 0) { return __dslcPotentialBlockSize(grid, block, (const void *)function, shared_bytes, limit); }
inline cudaError_t cudaEventCreate(cudaEvent_t *event, unsigned int flags) { return cudaEventCreateWithFlags(event, flags); }
inline cudaError_t cudaGraphInstantiate(cudaGraphExec_t *exec, cudaGraph_t graph, unsigned long long flags = 0) { return cudaGraphInstantiateWithFlags(exec, graph, flags); }
inline cudaError_t cudaGraphInstantiate(cudaGraphExec_t *exec, cudaGraph_t graph, cudaGraphNode_t *, char *, size_t) { return cudaGraphInstantiateWithFlags(exec, graph, 0); }
template <class T> inline cudaError_t cudaGraphAddMemcpyNodeToSymbol(cudaGraphNode_t *node, cudaGraph_t graph, const cudaGraphNode_t *after, size_t count, const T &symbol, const void *from, size_t bytes, size_t offset, cudaMemcpyKind kind) { return cudaGraphAddMemcpyNodeToSymbol(node, graph, after, count, (const void *)&symbol, from, bytes, offset, kind); }
template <class T> inline cudaError_t cudaGraphAddMemcpyNodeFromSymbol(cudaGraphNode_t *node, cudaGraph_t graph, const cudaGraphNode_t *after, size_t count, void *to, const T &symbol, size_t bytes, size_t offset, cudaMemcpyKind kind) { return cudaGraphAddMemcpyNodeFromSymbol(node, graph, after, count, to, (const void *)&symbol, bytes, offset, kind); }
template <class T> inline cudaError_t cudaMallocFromPoolAsync(T **pointer, size_t bytes, cudaMemPool_t pool, cudaStream_t stream) { return cudaMallocFromPoolAsync((void **)(void *)pointer, bytes, pool, stream); }
template <class T> inline cudaError_t cudaMallocAsync(T **pointer, size_t bytes, cudaMemPool_t pool, cudaStream_t stream) { return cudaMallocFromPoolAsync((void **)(void *)pointer, bytes, pool, stream); }
inline cudaError_t cudaMemPrefetchAsync(const void *pointer, size_t bytes, cudaMemLocation place, unsigned int, cudaStream_t stream = 0) { return cudaMemPrefetchAsync(pointer, bytes, place.id, stream); }
inline cudaError_t cudaMemAdvise(const void *pointer, size_t bytes, cudaMemoryAdvise advice, cudaMemLocation place) { return cudaMemAdvise(pointer, bytes, advice, place.id); }
inline cudaExtent make_cudaExtent(size_t width, size_t height, size_t depth) { return cudaExtent{width, height, depth}; }
inline cudaPos make_cudaPos(size_t x, size_t y, size_t z) { return cudaPos{x, y, z}; }
inline cudaPitchedPtr make_cudaPitchedPtr(void *pointer, size_t pitch, size_t width, size_t height) { return cudaPitchedPtr{pointer, pitch, width, height}; }

#include "dslc/launch_config.h"

#ifdef __CUDACC__

/* A `__managed__` variable: `id` says of which source. */
extern "C" void __dslcRegisterManaged(const char *id, const char *name, void *address, unsigned long bytes);

/* What a launch `k<<<grid, block>>>(…)` becomes. */
extern "C" unsigned __cudaPushCallConfiguration(dim3 grid, dim3 block, size_t shared_bytes = 0, void *stream = 0, int line = __builtin_LINE(), const char *file = __builtin_FILE());
extern "C" cudaError_t __cudaPopCallConfiguration(dim3 *grid, dim3 *block, size_t *shared_bytes, void *stream);

#ifdef DSLC_DEVICE_CODE
#include <__clang_cuda_builtin_vars.h>
#else
extern "C" {
extern const __device__ __attribute__((weak)) uint3 threadIdx;
extern const __device__ __attribute__((weak)) uint3 blockIdx;
extern const __device__ __attribute__((weak)) dim3 blockDim;
extern const __device__ __attribute__((weak)) dim3 gridDim;
}
enum { warpSize = 32 };
#endif

// What clang makes of a launch in device code. Nobody calls them: kernels are compiled from the source.
extern "C" __device__ void *cudaGetParameterBuffer(size_t alignment, size_t size);
extern "C" __device__ cudaError_t cudaLaunchDevice(void *kernel, void *parameters, dim3 grid, dim3 block, unsigned int shared_bytes, cudaStream_t stream);

#define CUDART_INF_F __builtin_inff()
#define CUDART_NAN_F __builtin_nanf("")
#define CUDART_INF __builtin_inf()
#define CUDART_NAN __builtin_nan("")

#include "dslc/bits.h"
#include "dslc/device_overloads.h"
#include "dslc/host_math.h"
#ifdef DSLC_DEVICE_CODE
#include "dslc/device_code.h"
#include "dslc/device_library.h"
#endif

#define __NV_ATOMIC_RELAXED 0
#define __NV_ATOMIC_CONSUME 1
#define __NV_ATOMIC_ACQUIRE 2
#define __NV_ATOMIC_RELEASE 3
#define __NV_ATOMIC_ACQ_REL 4
#define __NV_ATOMIC_SEQ_CST 5
#define __NV_THREAD_SCOPE_THREAD 0
#define __NV_THREAD_SCOPE_BLOCK 1
#define __NV_THREAD_SCOPE_CLUSTER 2
#define __NV_THREAD_SCOPE_DEVICE 3
#define __NV_THREAD_SCOPE_SYSTEM 4

#endif
#endif
#ifdef __CUDACC__
#include "dslc/nv_atomic.h"
#endif
#endif
