#include <cstdio>
#include "common.h"
extern "C" int plugin_count(const int *p, int n);
__global__ void transpose(float *p)
{
    __shared__ float tile[32][32];
    tile[threadIdx.x][threadIdx.y] = p[threadIdx.y * 32 + threadIdx.x];
    __syncthreads();
    p[threadIdx.y * 32 + threadIdx.x] = tile[threadIdx.y][threadIdx.x];
}
int main()
{
    float *p;
    int *q, count;
    cudaMalloc(&p, 1024 * sizeof(float));
    cudaMalloc(&q, 64 * sizeof(int));
    cudaMemset(p, 0, 1024 * sizeof(float));
    cudaMemset(q, 0, 64 * sizeof(int));
    transpose<<<1, dim3(32, 32)>>>(p);
    fill<<<1, 32>>>(q, 1, 64);
    smooth(p, 1024);
    count = plugin_count(q, 64);
    transpose<<<1, dim3(32, 32)>>>(p);
    printf("count %d, %s\n", count, cudaGetErrorString(cudaDeviceSynchronize()));
    cudaFree(p);
    cudaFree(q);
    return 0;
}
