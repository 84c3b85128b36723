// A source of the host that uses the helper headers of the samples.
#include <helper_functions.h>
#include <helper_cuda.h>
#include "tool.h"
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
