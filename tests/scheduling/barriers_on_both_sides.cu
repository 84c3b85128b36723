#include <stdio.h>
// Even and odd lanes come to barriers at different lines.
// sm_90: barrier_divergence (an H200 opens both too early: the result is wrong)
// sm_35: barrier_divergence
__global__ void k(int *out)
{
    __shared__ int a[64];
    if (threadIdx.x & 1) {
        a[threadIdx.x] = 2 * threadIdx.x;
        __syncthreads();
        out[threadIdx.x] = a[threadIdx.x ^ 1];
    } else {
        a[threadIdx.x] = 3 * threadIdx.x;
        __syncthreads();
        out[threadIdx.x] = a[threadIdx.x ^ 1] + 1;
    }
}
int main()
{
    int *d, h[64], bad = 0;
    cudaMalloc(&d, sizeof h);
    k<<<1, 64>>>(d);
    cudaMemcpy(h, d, sizeof h, cudaMemcpyDeviceToHost);
    for (int i = 0; i < 64; i++)
        bad += h[i] != (i & 1 ? 3 * (i - 1) : 2 * (i + 1) + 1);
    printf("%s\n", bad ? "WRONG" : "OK");
    cudaFree(d);
    return 0;
}
