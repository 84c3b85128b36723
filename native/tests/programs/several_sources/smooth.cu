#include "common.h"
__global__ void neighbours(float *p)
{
    __shared__ float s[64];
    s[threadIdx.x] = p[threadIdx.x];
    p[threadIdx.x] = s[(threadIdx.x + 1) % 64];
}
void smooth(float *p, int n)
{
    fill<<<n / 64, 32>>>(p, 0.5f, n);
    neighbours<<<1, 64>>>(p);
}
