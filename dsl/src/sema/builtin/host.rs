//! The host's functions: the CUDA runtime's and C's library's signatures for the runtime's calls.
//!
//! Parameters after those the call takes (flags, streams of synchronous work) are checked and dropped.

use super::{Make, Row, Sides};
use ir::HostFn;

const fn host(name: &'static str, signature: &'static str, call: HostFn) -> Row {
    Row {
        name,
        sides: Sides::Host,
        signature,
        make: Make::Host(call),
    }
}

pub(crate) const ROWS: &[Row] = &[
    // Memory.
    host("cudaMalloc", "cudaError_t(T**, size_t)", HostFn::CudaMalloc),
    host(
        "cudaMallocManaged",
        "cudaError_t(T**, size_t, uint=1)",
        HostFn::CudaMallocManaged,
    ),
    host(
        "cudaMallocHost",
        "cudaError_t(T**, size_t, uint=0)",
        HostFn::CudaMallocHost,
    ),
    host(
        "cudaHostAlloc",
        "cudaError_t(T**, size_t, uint)",
        HostFn::CudaMallocHost,
    ),
    host(
        "cudaMallocAsync",
        "cudaError_t(T**, size_t, cudaStream_t)",
        HostFn::CudaMallocAsync,
    ),
    host("cudaFree", "cudaError_t(void*)", HostFn::CudaFree),
    host(
        "cudaFreeAsync",
        "cudaError_t(void*, cudaStream_t)",
        HostFn::CudaFreeAsync,
    ),
    host("cudaFreeHost", "cudaError_t(void*)", HostFn::CudaFreeHost),
    host(
        "cudaMemcpy",
        "cudaError_t(void*, const void*, size_t, cudaMemcpyKind)",
        HostFn::CudaMemcpy,
    ),
    host(
        "cudaMemcpyAsync",
        "cudaError_t(void*, const void*, size_t, cudaMemcpyKind, cudaStream_t=0)",
        HostFn::CudaMemcpyAsync,
    ),
    host(
        "cudaMemset",
        "cudaError_t(void*, int, size_t)",
        HostFn::CudaMemset,
    ),
    host(
        "cudaMemsetAsync",
        "cudaError_t(void*, int, size_t, cudaStream_t=0)",
        HostFn::CudaMemsetAsync,
    ),
    host(
        "cudaMemcpyToSymbol",
        "cudaError_t(symbol, const void*, size_t, size_t=0, cudaMemcpyKind=1)",
        HostFn::CudaMemcpyToSymbol,
    ),
    host(
        "cudaMemcpyFromSymbol",
        "cudaError_t(void*, symbol, size_t, size_t=0, cudaMemcpyKind=2)",
        HostFn::CudaMemcpyFromSymbol,
    ),
    host(
        "cudaGetSymbolAddress",
        "cudaError_t(T**, symbol)",
        HostFn::CudaGetSymbolAddress,
    ),
    host(
        "cudaMemGetInfo",
        "cudaError_t(size_t*, size_t*)",
        HostFn::CudaMemGetInfo,
    ),
    // Device, errors.
    host(
        "cudaDeviceSynchronize",
        "cudaError_t()",
        HostFn::CudaDeviceSynchronize,
    ),
    host(
        "cudaThreadSynchronize",
        "cudaError_t()",
        HostFn::CudaDeviceSynchronize,
    ),
    host("cudaDeviceReset", "cudaError_t()", HostFn::CudaDeviceReset),
    host("cudaThreadExit", "cudaError_t()", HostFn::CudaDeviceReset),
    host(
        "cudaGetLastError",
        "cudaError_t()",
        HostFn::CudaGetLastError,
    ),
    host(
        "cudaPeekAtLastError",
        "cudaError_t()",
        HostFn::CudaPeekAtLastError,
    ),
    host(
        "cudaGetErrorString",
        "const char*(cudaError_t)",
        HostFn::CudaGetErrorString,
    ),
    host(
        "cudaGetErrorName",
        "const char*(cudaError_t)",
        HostFn::CudaGetErrorName,
    ),
    host(
        "cudaGetDeviceCount",
        "cudaError_t(int*)",
        HostFn::CudaGetDeviceCount,
    ),
    host("cudaGetDevice", "cudaError_t(int*)", HostFn::CudaGetDevice),
    host("cudaSetDevice", "cudaError_t(int)", HostFn::CudaSetDevice),
    host(
        "__dslc_device_property",
        "long(int)",
        HostFn::DeviceProperty,
    ),
    host(
        "__dslc_device_name",
        "void(char*, size_t)",
        HostFn::DeviceName,
    ),
    host("__dslc_set_heap", "cudaError_t(size_t)", HostFn::SetHeap),
    host(
        "__dslc_set_printf",
        "cudaError_t(size_t)",
        HostFn::SetPrintf,
    ),
    host("__dslc_set_stack", "cudaError_t(size_t)", HostFn::SetStack),
    host(
        "__dslc_set_error",
        "cudaError_t(cudaError_t)",
        HostFn::SetError,
    ),
    // Configuration.
    host(
        "cudaFuncSetAttribute",
        "cudaError_t(kernel, cudaFuncAttribute, int)",
        HostFn::CudaFuncSetAttribute,
    ),
    host(
        "cudaOccupancyMaxActiveBlocksPerMultiprocessor",
        "cudaError_t(int*, kernel, int, size_t)",
        HostFn::OccupancyBlocks,
    ),
    host(
        "cudaOccupancyMaxActiveBlocksPerMultiprocessorWithFlags",
        "cudaError_t(int*, kernel, int, size_t, uint)",
        HostFn::OccupancyBlocks,
    ),
    host(
        "cudaOccupancyMaxPotentialBlockSize",
        "cudaError_t(int*, int*, kernel, size_t=0, int=0)",
        HostFn::OccupancyBlockSize,
    ),
    host(
        "__dslc_kernel_fact",
        "long(int, kernel)",
        HostFn::KernelFact,
    ),
    host(
        "cudaFuncSetCacheConfig",
        "cudaError_t(kernel, cudaFuncCache)",
        HostFn::CudaFuncSetCacheConfig,
    ),
    host(
        "cudaFuncSetSharedMemConfig",
        "cudaError_t(kernel, cudaSharedMemConfig)",
        HostFn::CudaFuncSetSharedMemConfig,
    ),
    host(
        "cudaDeviceSetCacheConfig",
        "cudaError_t(cudaFuncCache)",
        HostFn::CudaDeviceSetCacheConfig,
    ),
    host(
        "cudaDeviceGetCacheConfig",
        "cudaError_t(cudaFuncCache*)",
        HostFn::CudaDeviceGetCacheConfig,
    ),
    host(
        "cudaDeviceSetSharedMemConfig",
        "cudaError_t(cudaSharedMemConfig)",
        HostFn::CudaDeviceSetSharedMemConfig,
    ),
    host(
        "cudaDeviceGetSharedMemConfig",
        "cudaError_t(cudaSharedMemConfig*)",
        HostFn::CudaDeviceGetSharedMemConfig,
    ),
    // Events and streams.
    host(
        "cudaEventCreate",
        "cudaError_t(cudaEvent_t*, uint=0)",
        HostFn::CudaEventCreate,
    ),
    host(
        "cudaEventCreateWithFlags",
        "cudaError_t(cudaEvent_t*, uint)",
        HostFn::CudaEventCreate,
    ),
    host(
        "cudaEventRecord",
        "cudaError_t(cudaEvent_t, cudaStream_t=0)",
        HostFn::CudaEventRecord,
    ),
    host(
        "cudaEventRecordWithFlags",
        "cudaError_t(cudaEvent_t, cudaStream_t=0, uint=0)",
        HostFn::CudaEventRecord,
    ),
    host(
        "cudaEventSynchronize",
        "cudaError_t(cudaEvent_t)",
        HostFn::CudaEventSynchronize,
    ),
    host(
        "cudaEventElapsedTime",
        "cudaError_t(float*, cudaEvent_t, cudaEvent_t)",
        HostFn::CudaEventElapsedTime,
    ),
    host(
        "cudaEventDestroy",
        "cudaError_t(cudaEvent_t)",
        HostFn::CudaEventDestroy,
    ),
    host(
        "cudaStreamCreate",
        "cudaError_t(cudaStream_t*)",
        HostFn::CudaStreamCreate,
    ),
    host(
        "cudaStreamCreateWithFlags",
        "cudaError_t(cudaStream_t*, uint)",
        HostFn::CudaStreamCreateWithFlags,
    ),
    host(
        "cudaStreamWaitEvent",
        "cudaError_t(cudaStream_t, cudaEvent_t, uint=0)",
        HostFn::CudaStreamWaitEvent,
    ),
    host(
        "cudaStreamCreateWithPriority",
        "cudaError_t(cudaStream_t*, uint, int)",
        HostFn::CudaStreamCreateWithFlags,
    ),
    host(
        "cudaStreamSynchronize",
        "cudaError_t(cudaStream_t)",
        HostFn::CudaStreamSynchronize,
    ),
    host(
        "cudaStreamDestroy",
        "cudaError_t(cudaStream_t)",
        HostFn::CudaStreamDestroy,
    ),
    // <stdlib.h>, <string.h>.
    host("malloc", "void*(size_t)", HostFn::Malloc),
    host("calloc", "void*(size_t, size_t)", HostFn::Calloc),
    host("realloc", "void*(void*, size_t)", HostFn::Realloc),
    host("free", "void(void*)", HostFn::Free),
    host("memset", "void*(void*, int, size_t)", HostFn::Memset),
    host(
        "memcpy",
        "void*(void*, const void*, size_t)",
        HostFn::Memcpy,
    ),
    host(
        "memmove",
        "void*(void*, const void*, size_t)",
        HostFn::Memmove,
    ),
    host(
        "memcmp",
        "int(const void*, const void*, size_t)",
        HostFn::Memcmp,
    ),
    host("strlen", "size_t(const char*)", HostFn::Strlen),
    host("strcmp", "int(const char*, const char*)", HostFn::Strcmp),
    host(
        "strncmp",
        "int(const char*, const char*, size_t)",
        HostFn::Strncmp,
    ),
    host("strcpy", "char*(char*, const char*)", HostFn::Strcpy),
    host("rand", "int()", HostFn::Rand),
    host("srand", "void(uint)", HostFn::Srand),
    host("exit", "void(int)", HostFn::Exit),
    host("abort", "void()", HostFn::Abort),
    host("atoi", "int(const char*)", HostFn::Atoi),
    host("atol", "long(const char*)", HostFn::Atol),
    host("atof", "double(const char*)", HostFn::Atof),
    host("time", "long(long*)", HostFn::Time),
    host("__dslc_clock_ns", "long(int)", HostFn::ClockNs),
    // <stdio.h>; `printf` is overloaded, because device code has it too.
    host("fprintf", "int(void*, const char*, ...)", HostFn::Fprintf),
    host("sprintf", "int(char*, const char*, ...)", HostFn::Sprintf),
    host(
        "snprintf",
        "int(char*, size_t, const char*, ...)",
        HostFn::Snprintf,
    ),
    host("puts", "int(const char*)", HostFn::Puts),
    host("putchar", "int(int)", HostFn::Putchar),
    host("fflush", "int(void*)", HostFn::Fflush),
    // <math.h> in single precision.
    host("expf", "float(float)", HostFn::Expf),
    host("logf", "float(float)", HostFn::Logf),
    host("powf", "float(float, float)", HostFn::Powf),
    host("sinf", "float(float)", HostFn::Sinf),
    host("cosf", "float(float)", HostFn::Cosf),
    host("tanhf", "float(float)", HostFn::Tanhf),
    // Computed in double precision and rounded.
    host("log2f", "float(double)", HostFn::Log2),
    host("log10f", "float(double)", HostFn::Log10),
    host("tanf", "float(double)", HostFn::Tan),
    host("atanf", "float(double)", HostFn::Atan),
    host("atan2f", "float(double, double)", HostFn::Atan2),
];
