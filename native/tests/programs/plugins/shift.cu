#include "plugin.h"
__constant__ float factor;
__device__ int touched;
__global__ void apply(float *p, int n) { int i = threadIdx.x + blockIdx.x * blockDim.x; if (i < n) { p[i] += factor; atomicAdd(&touched, 1); } }
extern "C" const char *plugin_name(void) { return "shift"; }
extern "C" int plugin_transform(float *data, int n, float by)
{
    float *d;
    int zero = 0, count = -1;
    if (cudaMalloc(&d, n * sizeof(float))) return -1;
    cudaMemcpy(d, data, n * sizeof(float), cudaMemcpyHostToDevice);
    cudaMemcpyToSymbol(factor, &by, sizeof by);
    cudaMemcpyToSymbol(touched, &zero, sizeof zero);
    apply<<<(n + 31) / 32, 32>>>(d, n);
    cudaMemcpyFromSymbol(&count, touched, sizeof count);
    cudaMemcpy(data, d, n * sizeof(float), cudaMemcpyDeviceToHost);
    cudaFree(d);
    return cudaGetLastError() == cudaSuccess ? count : -2;
}
