/* The driver's functions over the runtime's. A module is an image of kernels that dslc wrote: alone, or in the comments of its PTX. */
#include <cuda.h>
#include <cuda_runtime.h>

#include <cstdio>
#include <cstring>
#include <map>
#include <mutex>
#include <vector>

extern "C" {
/* libdslcrt's: whether the program has called the runtime; modules, what stands for their kernels, their variables, arguments in one buffer. */
int __dslcIsUsed(void);
cudaError_t __dslcModuleLoad(void **module, const void *image);
cudaError_t __dslcModuleFunction(const void **function, CUmodule module, const char *name);
cudaError_t __dslcModuleVariable(CUdeviceptr *pointer, size_t *bytes, CUmodule module, const char *name);
/* Virtual memory. */
cudaError_t __dslcVirtualReserve(CUdeviceptr *pointer, unsigned long long bytes, unsigned long long alignment);
cudaError_t __dslcVirtualFree(CUdeviceptr pointer, unsigned long long bytes);
cudaError_t __dslcVirtualCreate(CUmemGenericAllocationHandle *handle, unsigned long long bytes);
cudaError_t __dslcVirtualRelease(CUmemGenericAllocationHandle handle);
cudaError_t __dslcAddressRange(CUdeviceptr *base, size_t *bytes, CUdeviceptr pointer);
cudaError_t __dslcVirtualHandle(CUmemGenericAllocationHandle *handle, CUdeviceptr pointer);
cudaError_t __dslcVirtualMap(CUdeviceptr pointer, unsigned long long bytes, unsigned long long offset, CUmemGenericAllocationHandle handle);
cudaError_t __dslcVirtualUnmap(CUdeviceptr pointer, unsigned long long bytes);
cudaError_t __dslcVirtualAccess(CUdeviceptr pointer, unsigned long long bytes, unsigned long long flags);
cudaError_t __dslcUnpack(void **args, size_t room, void *buffer, size_t bytes, const void *function);
}

namespace {
/* The one context: the runtime's own. Its address is its handle. */
char context;
CUcontext current = nullptr;
bool is_ready = false;

/* The numbers of both interfaces are the same. */
CUresult of(cudaError_t error) { return (CUresult)error; }

/* cuInit was called, or the runtime, which calls it and has a context. */
bool has_begun() {
    if (!is_ready && __dslcIsUsed()) {
        is_ready = true;
        current = (CUcontext)&context;
    }
    return is_ready;
}
} // namespace
/* What the runtime says, which is asked only then. */
#define when_ready(call) (has_begun() ? of(call) : CUDA_ERROR_NOT_INITIALIZED)

extern "C" {

CUresult cuInit(unsigned int flags) {
    if (flags) return CUDA_ERROR_INVALID_VALUE;
    is_ready = true;
    return of(cudaSuccess);
}
CUresult cuDriverGetVersion(int *version) { return of(cudaDriverGetVersion(version)); }
CUresult cuGetErrorName(CUresult error, const char **name) {
    /* The driver's names are the runtime's, written otherwise. */
    static char text[128];
    const char *known = error == CUDA_ERROR_FILE_NOT_FOUND ? "" : cudaGetErrorName((cudaError_t)error);
    if (!strcmp(known, "unrecognized error code")) return *name = nullptr, CUDA_ERROR_INVALID_VALUE;
    if (!error) return *name = "CUDA_SUCCESS", of(cudaSuccess);
    size_t at = snprintf(text, sizeof text, "CUDA_ERROR");
    for (const char *c = known + (*known ? strlen("cudaError") : 0); *c && at + 2 < sizeof text; c++) {
        if (*c >= 'A' && *c <= 'Z') text[at++] = '_';
        text[at++] = *c >= 'a' && *c <= 'z' ? (char)(*c - 32) : *c;
    }
    text[at] = 0;
    const char *found = text;
    switch (error) {
    case CUDA_ERROR_OUT_OF_MEMORY: found = "CUDA_ERROR_OUT_OF_MEMORY"; break;
    case CUDA_ERROR_NOT_INITIALIZED: found = "CUDA_ERROR_NOT_INITIALIZED"; break;
    case CUDA_ERROR_INVALID_IMAGE: found = "CUDA_ERROR_INVALID_IMAGE"; break;
    case CUDA_ERROR_NOT_FOUND: found = "CUDA_ERROR_NOT_FOUND"; break;
    case CUDA_ERROR_FILE_NOT_FOUND: found = "CUDA_ERROR_FILE_NOT_FOUND"; break;
    case CUDA_ERROR_INVALID_HANDLE: found = "CUDA_ERROR_INVALID_HANDLE"; break;
    default: break;
    }
    return *name = found, of(cudaSuccess);
}
CUresult cuGetErrorString(CUresult error, const char **text) { return *text = cudaGetErrorString((cudaError_t)error), of(cudaSuccess); }

CUresult cuDeviceGetCount(int *count) { return when_ready(cudaGetDeviceCount(count)); }
CUresult cuDeviceGet(CUdevice *device, int ordinal) {
    int count = 0;
    if (CUresult error = when_ready(cudaGetDeviceCount(&count))) return error;
    if (ordinal < 0 || ordinal >= count) return CUDA_ERROR_INVALID_DEVICE;
    return *device = ordinal, of(cudaSuccess);
}
CUresult cuDeviceGetName(char *name, int bytes, CUdevice device) {
    cudaDeviceProp found;
    if (CUresult error = when_ready(cudaGetDeviceProperties(&found, device))) return error;
    snprintf(name, bytes, "%s", found.name);
    return of(cudaSuccess);
}
CUresult cuDeviceGetAttribute(int *value, CUdevice_attribute attribute, CUdevice device) {
    int major = 0;
    switch ((int)attribute) {
    case CU_DEVICE_ATTRIBUTE_VIRTUAL_MEMORY_MANAGEMENT_SUPPORTED: return *value = 1, when_ready(cudaSuccess);
    case CU_DEVICE_ATTRIBUTE_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR_SUPPORTED: case CU_DEVICE_ATTRIBUTE_HANDLE_TYPE_WIN32_HANDLE_SUPPORTED:
    case CU_DEVICE_ATTRIBUTE_HANDLE_TYPE_WIN32_KMT_HANDLE_SUPPORTED:
    case CU_DEVICE_ATTRIBUTE_GPU_DIRECT_RDMA_WITH_CUDA_VMM_SUPPORTED: return *value = 0, when_ready(cudaSuccess);
    /* Memory takes the mark, and is as large and as fast as any. */
    case CU_DEVICE_ATTRIBUTE_GENERIC_COMPRESSION_SUPPORTED:
        if (CUresult error = when_ready(cudaDeviceGetAttribute(&major, cudaDevAttrComputeCapabilityMajor, device))) return error;
        return *value = major >= 8, of(cudaSuccess);
    default: break;
    }
    return when_ready(cudaDeviceGetAttribute(value, (cudaDeviceAttr)attribute, device));
}
CUresult cuDeviceComputeCapability(int *major, int *minor, CUdevice device) {
    CUresult error = cuDeviceGetAttribute(major, CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR, device);
    return error ? error : cuDeviceGetAttribute(minor, CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR, device);
}
CUresult cuDeviceTotalMem(size_t *bytes, CUdevice device) {
    cudaDeviceProp found;
    if (CUresult error = when_ready(cudaGetDeviceProperties(&found, device))) return error;
    return *bytes = found.totalGlobalMem, of(cudaSuccess);
}

CUresult cuCtxCreate(CUcontext *made, unsigned int, CUdevice device) {
    if (CUresult error = when_ready(cudaSetDevice(device))) return error;
    return *made = current = (CUcontext)&context, of(cudaSuccess);
}
CUresult cuCtxDestroy(CUcontext one) {
    if (one != (CUcontext)&context) return CUDA_ERROR_INVALID_VALUE;
    current = nullptr;
    return of(cudaDeviceSynchronize());
}
CUresult cuCtxSynchronize(void) { return when_ready(cudaDeviceSynchronize()); }
CUresult cuCtxSetCurrent(CUcontext one) { return current = one, when_ready(cudaSuccess); }
CUresult cuCtxGetCurrent(CUcontext *one) { return *one = current, when_ready(cudaSuccess); }
CUresult cuCtxPushCurrent(CUcontext one) { return cuCtxSetCurrent(one); }
CUresult cuCtxPopCurrent(CUcontext *one) {
    if (one) *one = current;
    return when_ready(cudaSuccess);
}
CUresult cuCtxGetDevice(CUdevice *device) { return when_ready(cudaGetDevice(device)); }
CUresult cuDevicePrimaryCtxRetain(CUcontext *one, CUdevice device) {
    if (CUresult error = when_ready(cudaSetDevice(device))) return error;
    return *one = (CUcontext)&context, of(cudaSuccess);
}
CUresult cuDevicePrimaryCtxRelease(CUdevice) { return when_ready(cudaSuccess); }

CUresult cuMemGetInfo(size_t *free_bytes, size_t *total_bytes) { return when_ready(cudaMemGetInfo(free_bytes, total_bytes)); }
CUresult cuMemGetAddressRange(CUdeviceptr *base, size_t *bytes, CUdeviceptr pointer) { return when_ready(__dslcAddressRange(base, bytes, pointer)); }
CUresult cuMemAlloc(CUdeviceptr *pointer, size_t bytes) { return bytes ? when_ready(cudaMalloc((void **)pointer, bytes)) : CUDA_ERROR_INVALID_VALUE; }
CUresult cuMemAllocManaged(CUdeviceptr *pointer, size_t bytes, unsigned int flags) { return when_ready(cudaMallocManaged((void **)pointer, bytes, flags)); }
CUresult cuMemAllocHost(void **pointer, size_t bytes) { return when_ready(cudaMallocHost(pointer, bytes)); }
CUresult cuMemFree(CUdeviceptr pointer) { return when_ready(cudaFree((void *)pointer)); }
CUresult cuMemFreeHost(void *pointer) { return when_ready(cudaFreeHost(pointer)); }
CUresult cuMemcpyHtoD(CUdeviceptr to, const void *from, size_t bytes) { return when_ready(cudaMemcpy((void *)to, from, bytes, cudaMemcpyHostToDevice)); }
CUresult cuMemcpyDtoH(void *to, CUdeviceptr from, size_t bytes) { return when_ready(cudaMemcpy(to, (void *)from, bytes, cudaMemcpyDeviceToHost)); }
CUresult cuMemcpyDtoD(CUdeviceptr to, CUdeviceptr from, size_t bytes) { return when_ready(cudaMemcpy((void *)to, (void *)from, bytes, cudaMemcpyDeviceToDevice)); }
CUresult cuMemcpyHtoDAsync(CUdeviceptr to, const void *from, size_t bytes, CUstream stream) { return when_ready(cudaMemcpyAsync((void *)to, from, bytes, cudaMemcpyHostToDevice, stream)); }
CUresult cuMemcpyDtoHAsync(void *to, CUdeviceptr from, size_t bytes, CUstream stream) { return when_ready(cudaMemcpyAsync(to, (void *)from, bytes, cudaMemcpyDeviceToHost, stream)); }
CUresult cuMemcpyDtoDAsync(CUdeviceptr to, CUdeviceptr from, size_t bytes, CUstream stream) { return when_ready(cudaMemcpyAsync((void *)to, (void *)from, bytes, cudaMemcpyDeviceToDevice, stream)); }
CUresult cuMemsetD8(CUdeviceptr pointer, unsigned char value, size_t count) { return when_ready(cudaMemset((void *)pointer, value, count)); }
CUresult cuMemsetD32(CUdeviceptr pointer, unsigned int value, size_t count) {
    std::vector<unsigned int> all(count, value);
    return when_ready(cudaMemcpy((void *)pointer, all.data(), count * sizeof value, cudaMemcpyHostToDevice));
}

CUresult cuStreamCreate(CUstream *stream, unsigned int flags) { return when_ready(cudaStreamCreateWithFlags(stream, flags)); }
CUresult cuStreamDestroy(CUstream stream) { return when_ready(cudaStreamDestroy(stream)); }
CUresult cuStreamSynchronize(CUstream stream) { return when_ready(cudaStreamSynchronize(stream)); }
CUresult cuStreamQuery(CUstream stream) { return when_ready(cudaStreamQuery(stream)); }
CUresult cuStreamWaitEvent(CUstream stream, CUevent event, unsigned int flags) { return when_ready(cudaStreamWaitEvent(stream, event, flags)); }
CUresult cuEventCreate(CUevent *event, unsigned int flags) { return when_ready(cudaEventCreateWithFlags(event, flags)); }
CUresult cuEventDestroy(CUevent event) { return when_ready(cudaEventDestroy(event)); }
CUresult cuEventRecord(CUevent event, CUstream stream) { return when_ready(cudaEventRecord(event, stream)); }
CUresult cuEventSynchronize(CUevent event) { return when_ready(cudaEventSynchronize(event)); }
CUresult cuEventElapsedTime(float *milliseconds, CUevent start, CUevent end) { return when_ready(cudaEventElapsedTime(milliseconds, start, end)); }

CUresult cuMemsetD16(CUdeviceptr pointer, unsigned short value, size_t count) {
    std::vector<unsigned short> all(count, value);
    return when_ready(cudaMemcpy((void *)pointer, all.data(), count * sizeof value, cudaMemcpyHostToDevice));
}
CUresult cuMemsetD8Async(CUdeviceptr pointer, unsigned char value, size_t count, CUstream stream) { return when_ready(cudaMemsetAsync((void *)pointer, value, count, stream)); }
CUresult cuMemsetD32Async(CUdeviceptr pointer, unsigned int value, size_t count, CUstream) { return cuMemsetD32(pointer, value, count); }
CUresult cuMemcpy(CUdeviceptr to, CUdeviceptr from, size_t bytes) { return when_ready(cudaMemcpy((void *)to, (void *)from, bytes, cudaMemcpyDefault)); }
CUresult cuMemcpyAsync(CUdeviceptr to, CUdeviceptr from, size_t bytes, CUstream stream) { return when_ready(cudaMemcpyAsync((void *)to, (void *)from, bytes, cudaMemcpyDefault, stream)); }
CUresult cuMemAllocPitch(CUdeviceptr *pointer, size_t *pitch, size_t width, size_t height, unsigned int) { return when_ready(cudaMallocPitch((void **)pointer, pitch, width, height)); }
CUresult cuMemAllocAsync(CUdeviceptr *pointer, size_t bytes, CUstream stream) { return when_ready(cudaMallocAsync((void **)pointer, bytes, stream)); }
CUresult cuMemFreeAsync(CUdeviceptr pointer, CUstream stream) { return when_ready(cudaFreeAsync((void *)pointer, stream)); }
CUresult cuMemHostAlloc(void **pointer, size_t bytes, unsigned int flags) { return when_ready(cudaHostAlloc(pointer, bytes, flags)); }
CUresult cuMemHostGetDevicePointer(CUdeviceptr *pointer, void *host, unsigned int flags) { return when_ready(cudaHostGetDevicePointer((void **)pointer, host, flags)); }
CUresult cuMemHostRegister(void *pointer, size_t bytes, unsigned int flags) { return when_ready(cudaHostRegister(pointer, bytes, flags)); }
CUresult cuMemHostUnregister(void *pointer) { return when_ready(cudaHostUnregister(pointer)); }
CUresult cuCtxGetApiVersion(CUcontext, unsigned int *version) { return *version = CUDA_VERSION, when_ready(cudaSuccess); }
CUresult cuCtxSetLimit(CUlimit limit, size_t value) { return when_ready(cudaDeviceSetLimit((cudaLimit)limit, value)); }
CUresult cuCtxGetLimit(size_t *value, CUlimit limit) { return when_ready(cudaDeviceGetLimit(value, (cudaLimit)limit)); }
CUresult cuDevicePrimaryCtxReset(CUdevice) { return when_ready(cudaDeviceReset()); }
CUresult cuEventQuery(CUevent event) { return when_ready(cudaEventQuery(event)); }
CUresult cuLaunchHostFunc(CUstream stream, CUhostFn function, void *data) { return when_ready(cudaLaunchHostFunc(stream, function, data)); }

/* What memory of cuMemCreate was made with. */
static std::mutex properties_lock;
static std::map<CUmemGenericAllocationHandle, CUmemAllocationProp> &properties() {
    static std::map<CUmemGenericAllocationHandle, CUmemAllocationProp> all;
    return all;
}
static bool is_device_memory(const CUmemAllocationProp *prop) {
    return prop && prop->type == CU_MEM_ALLOCATION_TYPE_PINNED && prop->location.type == CU_MEM_LOCATION_TYPE_DEVICE && prop->location.id == 0;
}
CUresult cuMemGetAllocationGranularity(size_t *granularity, const CUmemAllocationProp *prop, CUmemAllocationGranularity_flags) {
    if (!granularity || !is_device_memory(prop)) return CUDA_ERROR_INVALID_VALUE;
    return *granularity = 2 << 20, when_ready(cudaSuccess);
}
CUresult cuMemAddressReserve(CUdeviceptr *pointer, size_t bytes, size_t alignment, CUdeviceptr, unsigned long long flags) {
    if (!pointer || flags) return CUDA_ERROR_INVALID_VALUE;
    return when_ready(__dslcVirtualReserve(pointer, bytes, alignment));
}
CUresult cuMemAddressFree(CUdeviceptr pointer, size_t bytes) { return when_ready(__dslcVirtualFree(pointer, bytes)); }
CUresult cuMemCreate(CUmemGenericAllocationHandle *handle, size_t bytes, const CUmemAllocationProp *prop, unsigned long long flags) {
    if (!handle || flags || !is_device_memory(prop)) return CUDA_ERROR_INVALID_VALUE;
    /* No other process could open it. */
    if (prop->requestedHandleTypes != CU_MEM_HANDLE_TYPE_NONE) return CUDA_ERROR_NOT_SUPPORTED;
    if (CUresult error = when_ready(__dslcVirtualCreate(handle, bytes))) return error;
    std::lock_guard<std::mutex> guard(properties_lock);
    return properties()[*handle] = *prop, of(cudaSuccess);
}
CUresult cuMemRelease(CUmemGenericAllocationHandle handle) { return when_ready(__dslcVirtualRelease(handle)); }
CUresult cuMemRetainAllocationHandle(CUmemGenericAllocationHandle *handle, void *pointer) { return when_ready(__dslcVirtualHandle(handle, (CUdeviceptr)pointer)); }
CUresult cuMemGetAllocationPropertiesFromHandle(CUmemAllocationProp *prop, CUmemGenericAllocationHandle handle) {
    std::lock_guard<std::mutex> guard(properties_lock);
    auto found = properties().find(handle);
    if (!prop || found == properties().end()) return CUDA_ERROR_INVALID_VALUE;
    return *prop = found->second, when_ready(cudaSuccess);
}
CUresult cuMemMap(CUdeviceptr pointer, size_t bytes, size_t offset, CUmemGenericAllocationHandle handle, unsigned long long flags) {
    return flags ? CUDA_ERROR_INVALID_VALUE : when_ready(__dslcVirtualMap(pointer, bytes, offset, handle));
}
CUresult cuMemUnmap(CUdeviceptr pointer, size_t bytes) { return when_ready(__dslcVirtualUnmap(pointer, bytes)); }
CUresult cuMemSetAccess(CUdeviceptr pointer, size_t bytes, const CUmemAccessDesc *access, size_t count) {
    if (!access || count != 1 || access->location.type != CU_MEM_LOCATION_TYPE_DEVICE || access->location.id) return CUDA_ERROR_INVALID_VALUE;
    return when_ready(__dslcVirtualAccess(pointer, bytes, access->flags));
}
/* Other processes have simulators of their own. */
CUresult cuMemExportToShareableHandle(void *, CUmemGenericAllocationHandle, CUmemAllocationHandleType, unsigned long long) { return CUDA_ERROR_NOT_SUPPORTED; }
CUresult cuMemImportFromShareableHandle(CUmemGenericAllocationHandle *, void *, CUmemAllocationHandleType) { return CUDA_ERROR_NOT_SUPPORTED; }

/* Images that `dslc nvcc` writes; libdslcrt knows them. */
CUresult cuModuleLoadData(CUmodule *module, const void *image) { return when_ready(__dslcModuleLoad((void **)module, image)); }
CUresult cuModuleLoadDataEx(CUmodule *module, const void *image, unsigned int, CUjit_option *, void **) { return cuModuleLoadData(module, image); }
CUresult cuModuleLoadFatBinary(CUmodule *module, const void *image) { return cuModuleLoadData(module, image); }
CUresult cuModuleLoad(CUmodule *module, const char *path) {
    FILE *file = fopen(path, "rb");
    if (!file) return CUDA_ERROR_FILE_NOT_FOUND;
    std::vector<char> text;
    char part[4096];
    while (size_t bytes = fread(part, 1, sizeof part, file)) text.insert(text.end(), part, part + bytes);
    fclose(file);
    /* PTX is text, which ends with a zero. */
    text.push_back(0);
    return cuModuleLoadData(module, text.data());
}
CUresult cuModuleUnload(CUmodule module) { return module ? when_ready(cudaDeviceSynchronize()) : CUDA_ERROR_INVALID_VALUE; }
CUresult cuModuleGetFunction(CUfunction *function, CUmodule module, const char *name) { return when_ready(__dslcModuleFunction((const void **)function, module, name)); }
CUresult cuModuleGetGlobal(CUdeviceptr *pointer, size_t *bytes, CUmodule module, const char *name) { return when_ready(__dslcModuleVariable(pointer, bytes, module, name)); }

CUresult cuFuncSetAttribute(CUfunction function, CUfunction_attribute attribute, int value) { return when_ready(cudaFuncSetAttribute((const void *)function, (cudaFuncAttribute)attribute, value)); }
CUresult cuFuncGetAttribute(int *value, CUfunction_attribute attribute, CUfunction function) {
    cudaFuncAttributes all;
    if (CUresult error = when_ready(cudaFuncGetAttributes(&all, (const void *)function))) return error;
    switch (attribute) {
    case CU_FUNC_ATTRIBUTE_MAX_THREADS_PER_BLOCK: return *value = all.maxThreadsPerBlock, of(cudaSuccess);
    case CU_FUNC_ATTRIBUTE_SHARED_SIZE_BYTES: return *value = (int)all.sharedSizeBytes, of(cudaSuccess);
    case CU_FUNC_ATTRIBUTE_CONST_SIZE_BYTES: return *value = (int)all.constSizeBytes, of(cudaSuccess);
    case CU_FUNC_ATTRIBUTE_LOCAL_SIZE_BYTES: return *value = (int)all.localSizeBytes, of(cudaSuccess);
    case CU_FUNC_ATTRIBUTE_NUM_REGS: return *value = all.numRegs, of(cudaSuccess);
    case CU_FUNC_ATTRIBUTE_PTX_VERSION: return *value = all.ptxVersion, of(cudaSuccess);
    case CU_FUNC_ATTRIBUTE_BINARY_VERSION: return *value = all.binaryVersion, of(cudaSuccess);
    case CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES: return *value = all.maxDynamicSharedSizeBytes, of(cudaSuccess);
    default: return CUDA_ERROR_INVALID_VALUE;
    }
}
CUresult cuFuncSetCacheConfig(CUfunction function, CUfunc_cache config) { return when_ready(cudaFuncSetCacheConfig((const void *)function, (cudaFuncCache)config)); }
CUresult cuOccupancyMaxActiveBlocksPerMultiprocessor(int *blocks, CUfunction function, int threads, size_t shared_bytes) { return when_ready(cudaOccupancyMaxActiveBlocksPerMultiprocessor(blocks, (const void *)function, threads, shared_bytes)); }
CUresult cuOccupancyMaxPotentialBlockSize(int *grid, int *block, CUfunction function, CUoccupancyB2DSize, size_t shared_bytes, int limit) { return when_ready(__dslcPotentialBlockSize(grid, block, (const void *)function, shared_bytes, limit)); }

CUresult cuLaunchKernel(CUfunction function, unsigned int grid_x, unsigned int grid_y, unsigned int grid_z, unsigned int block_x, unsigned int block_y, unsigned int block_z, unsigned int shared_bytes, CUstream stream, void **args, void **extra) {
    if (args && extra) return CUDA_ERROR_INVALID_VALUE;
    void *places[1024];
    if (extra) {
        void *buffer = nullptr;
        size_t bytes = 0;
        for (; *extra; extra += 2) {
            if (*extra == CU_LAUNCH_PARAM_BUFFER_POINTER) buffer = extra[1];
            else if (*extra == CU_LAUNCH_PARAM_BUFFER_SIZE) bytes = *(size_t *)extra[1];
            else return CUDA_ERROR_INVALID_VALUE;
        }
        if (CUresult error = when_ready(__dslcUnpack(places, 1024, buffer, bytes, (const void *)function))) return error;
        args = places;
    }
    return when_ready(cudaLaunchKernel((const void *)function, dim3(grid_x, grid_y, grid_z), dim3(block_x, block_y, block_z), args, shared_bytes, stream));
}
CUresult cuLaunchCooperativeKernel(CUfunction function, unsigned int grid_x, unsigned int grid_y, unsigned int grid_z, unsigned int block_x, unsigned int block_y, unsigned int block_z, unsigned int shared_bytes, CUstream stream, void **args) {
    return when_ready(cudaLaunchCooperativeKernel((const void *)function, dim3(grid_x, grid_y, grid_z), dim3(block_x, block_y, block_z), args, shared_bytes, stream));
}

} // extern "C"
