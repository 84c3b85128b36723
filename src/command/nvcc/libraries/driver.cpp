/* The driver's functions over the runtime's. Modules of PTX cannot be loaded: a program's kernels are those that were compiled into it. */
#include <cuda.h>
#include <cuda_runtime.h>

#include <cstdio>
#include <cstring>
#include <vector>

namespace {
/* The one context: the runtime's own. Its address is its handle. */
char context;
CUcontext current = nullptr;
bool is_ready = false;

/* The numbers of both interfaces are the same. */
CUresult of(cudaError_t error) { return (CUresult)error; }
CUresult when_ready(cudaError_t error) { return is_ready ? of(error) : CUDA_ERROR_NOT_INITIALIZED; }
CUresult no_module() {
    fputs("dslc: the driver cannot load a module: kernels have to be compiled into the program and launched with <<<…>>> or cudaLaunchKernel\n", stderr);
    return CUDA_ERROR_NOT_SUPPORTED;
}
} // namespace

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
    const char *known = cudaGetErrorName((cudaError_t)error);
    if (!strcmp(known, "unrecognized error code")) return *name = nullptr, CUDA_ERROR_INVALID_VALUE;
    if (!error) return *name = "CUDA_SUCCESS", of(cudaSuccess);
    size_t at = snprintf(text, sizeof text, "CUDA_ERROR");
    for (const char *c = known + strlen("cudaError"); *c && at + 2 < sizeof text; c++) {
        if (*c >= 'A' && *c <= 'Z') text[at++] = '_';
        text[at++] = *c >= 'a' && *c <= 'z' ? (char)(*c - 32) : *c;
    }
    text[at] = 0;
    const char *found = error == CUDA_ERROR_OUT_OF_MEMORY ? "CUDA_ERROR_OUT_OF_MEMORY" : error == CUDA_ERROR_NOT_INITIALIZED ? "CUDA_ERROR_NOT_INITIALIZED" : text;
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
CUresult cuDeviceGetAttribute(int *value, CUdevice_attribute attribute, CUdevice device) { return when_ready(cudaDeviceGetAttribute(value, (cudaDeviceAttr)attribute, device)); }
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

CUresult cuModuleLoad(CUmodule *, const char *) { return no_module(); }
CUresult cuModuleLoadData(CUmodule *, const void *) { return no_module(); }
CUresult cuModuleLoadDataEx(CUmodule *, const void *, unsigned int, void *, void **) { return no_module(); }
CUresult cuModuleUnload(CUmodule) { return CUDA_ERROR_INVALID_VALUE; }
CUresult cuModuleGetFunction(CUfunction *, CUmodule, const char *) { return CUDA_ERROR_INVALID_VALUE; }
CUresult cuModuleGetGlobal(CUdeviceptr *, size_t *, CUmodule, const char *) { return CUDA_ERROR_INVALID_VALUE; }
CUresult cuFuncSetAttribute(CUfunction, CUfunction_attribute, int) { return CUDA_ERROR_INVALID_VALUE; }
CUresult cuLaunchKernel(CUfunction, unsigned int, unsigned int, unsigned int, unsigned int, unsigned int, unsigned int, unsigned int, CUstream, void **, void **) { return CUDA_ERROR_INVALID_VALUE; }

} // extern "C"
