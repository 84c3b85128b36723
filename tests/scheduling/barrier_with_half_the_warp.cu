#include <stdio.h>
// Half of a warp meets one barrier more; the other half has ended by then.
// sm_90: barrier_divergence (an H200 ends with the right result, by luck)
// sm_35: barrier_divergence
__global__ void k(int *out)
{
    __shared__ int a[32];
    a[threadIdx.x] = threadIdx.x * 5;
    if (threadIdx.x < 16)
        __syncthreads();
    int mine = threadIdx.x < 16 ? a[threadIdx.x ^ 8] : a[threadIdx.x];
    __syncthreads();
    out[threadIdx.x] = mine;
}
int main()
{
    int *d, h[32], bad = 0;
    cudaMalloc(&d, sizeof h);
    k<<<1, 32>>>(d);
    cudaMemcpy(h, d, sizeof h, cudaMemcpyDeviceToHost);
    for (int i = 0; i < 32; i++)
        bad += h[i] != 5 * (i < 16 ? i ^ 8 : i);
    printf("%s\n", bad ? "WRONG" : "OK");
    cudaFree(d);
    return 0;
}
