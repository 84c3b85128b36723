// A source of the host that uses the helper headers of the samples.
#include <helper_functions.h>
#include <helper_cuda.h>
#include <curand_kernel.h>
#include "tool.h"

// A host's source keeps generators that kernels use.
struct Plan {
    curandState *states;
    size_t bytes;
};

size_t bytes_of(int generators)
{
    Plan plan = {nullptr, generators * sizeof(curandState)};
    return plan.bytes;
}

float timed(int argc, char **argv, int *count)
{
    StopWatchInterface *timer = NULL;
    sdkCreateTimer(&timer);
    sdkStartTimer(&timer);
    if (checkCmdLineFlag(argc, (const char **)argv, "count")) *count = getCmdLineArgumentInt(argc, (const char **)argv, "count");
    sdkStopTimer(&timer);
    float ms = sdkGetTimerValue(&timer);
    sdkDeleteTimer(&timer);
    checkCudaErrors(cudaDeviceSynchronize());
    return ms;
}
