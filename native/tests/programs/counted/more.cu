#include "kernels.h"
__global__ void doubled(float *to, const float *from, int n)
{
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n * n; i += gridDim.x * blockDim.x) to[i] = 2 * from[i];
}
__global__ void large(const float *a, int *count, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n && a[i] >= 100) atomicAdd(count, 1);
}
void twice(float *to, const float *from, int n) { doubled<<<n, 64>>>(to, from, n); }
void large_ones(const float *a, int *count, int n) { large<<<n / 64, 64>>>(a, count, n); }
