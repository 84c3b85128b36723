// Kernels that a program of the driver's interface loads from files.
#include <cstdio>
#include <cuda.h>
#include <string>

#define CHECK(call) \
    if (CUresult error = (call)) { \
        const char *name; \
        cuGetErrorName(error, &name); \
        printf("line %d: %s\n", __LINE__, name); \
    }

struct Pair { int first; short second; };

int main()
{
    CUdevice device;
    CUcontext context;
    CUmodule module;
    CHECK(cuInit(0));
    CHECK(cuDeviceGet(&device, 0));
    CHECK(cuCtxCreate(&context, 0, device));
    int host[32];
    CUdeviceptr p, variable;
    size_t bytes;
    CHECK(cuMemAlloc(&p, sizeof host));
    for (std::string file : {"kernels.ptx", "kernels.cubin", "kernels.fatbin"}) {
        CUfunction twice, plus, none;
        CHECK(cuModuleLoad(&module, file.c_str()));
        CHECK(cuModuleGetFunction(&twice, module, "twice"));
        CHECK(cuModuleGetFunction(&plus, module, "_Z4plusPi4Pairi"));
        CUresult missing = cuModuleGetFunction(&none, module, "nothing");
        CHECK(cuModuleGetGlobal(&variable, &bytes, module, "bias"));
        int bias = 1000;
        CHECK(cuMemcpyHtoD(variable, &bias, bytes));
        for (int i = 0; i < 32; i++) host[i] = i;
        CHECK(cuMemcpyHtoD(p, host, sizeof host));
        float by = 2.5f;
        long n = 31;
        struct { CUdeviceptr p; float by; long n; } packed = {p, by, n};
        size_t size = sizeof packed;
        void *extra[] = {CU_LAUNCH_PARAM_BUFFER_POINTER, &packed, CU_LAUNCH_PARAM_BUFFER_SIZE, &size, CU_LAUNCH_PARAM_END};
        CHECK(cuLaunchKernel(twice, 1, 1, 1, 32, 1, 1, 0, 0, nullptr, extra));
        Pair pair = {7, -2};
        int count = 32, shared = 0, blocks = 0;
        void *args[] = {&p, &pair, &count};
        CHECK(cuFuncSetAttribute(plus, CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES, 60000));
        CHECK(cuFuncGetAttribute(&shared, CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES, plus));
        CHECK(cuOccupancyMaxActiveBlocksPerMultiprocessor(&blocks, plus, 256, 0));
        CHECK(cuLaunchKernel(plus, 1, 1, 1, 32, 1, 1, 60000, 0, args, nullptr));
        CHECK(cuCtxSynchronize());
        CHECK(cuMemcpyDtoH(host, p, sizeof host));
        printf("%s: %d %d, %zu bytes, %d shared, %d blocks, missing %d\n", file.c_str(), host[30], host[31], bytes, shared, blocks, missing);
        CHECK(cuModuleUnload(module));
    }
    CHECK(cuModuleLoad(&module, "other.ptx"));
    CHECK(cuModuleLoad(&module, "nowhere.ptx"));
    CHECK(cuModuleLoadData(&module, "hello"));
    CHECK(cuMemFree(p));
}
