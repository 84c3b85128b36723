// The driver's functions: the device, its context and memory, beside kernels of the runtime.
#include <cstdio>
#include <cuda.h>
__global__ void add(int *x, int n, int by) {
    if (threadIdx.x < n) x[threadIdx.x] += by;
}
#define CHECK(call) \
    if (CUresult error = call) { \
        const char *name; \
        cuGetErrorName(error, &name); \
        printf("line %d: %s\n", __LINE__, name); \
    }
int main() {
    int count, major, minor, threads;
    CHECK(cuDeviceGetCount(&count));
    CUresult ready = CUDA_SUCCESS;
    ready = cuInit(0);
    CHECK(ready);
    CHECK(cuDeviceGetCount(&count));
    CUdevice device;
    CHECK(cuDeviceGet(&device, 0));
    CHECK(cuDeviceGet(&device, 7));
    CHECK(cuDeviceComputeCapability(&major, &minor, device));
    CHECK(cuDeviceGetAttribute(&threads, CU_DEVICE_ATTRIBUTE_MAX_THREADS_PER_BLOCK, device));
    printf("%d device, %d.%d, %d threads\n", count, major, minor, threads);
    CUcontext context;
    CHECK(cuCtxCreate(&context, 0, device));
    CUdeviceptr pointer;
    int host[4] = {1, 2, 3, 4};
    CHECK(cuMemAlloc(&pointer, sizeof host));
    CHECK(cuMemcpyHtoD(pointer, host, sizeof host));
    add<<<1, 32>>>((int *)pointer, 4, 10);
    CHECK(cuCtxSynchronize());
    CHECK(cuMemcpyDtoH(host, pointer, sizeof host));
    printf("%d %d\n", host[0], host[3]);
    CHECK(cuMemsetD32(pointer, 77, 4));
    CHECK(cuMemcpyDtoH(host, pointer, sizeof host));
    printf("%d %d\n", host[0], host[3]);
    CUdeviceptr base;
    size_t bytes;
    CHECK(cuMemGetAddressRange(&base, &bytes, pointer + 5));
    printf("%d %zu\n", base == pointer, bytes);
    CHECK(cuMemFree(pointer));
    CHECK(cuMemGetAddressRange(&base, &bytes, pointer));
    CUmodule module;
    CHECK(cuModuleLoad(&module, "kernel.ptx"));
    CHECK(cuCtxDestroy(context));
}
