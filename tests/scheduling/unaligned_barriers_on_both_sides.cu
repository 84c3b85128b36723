#include <stdio.h>
// Even and odd lanes come to barriers at different lines. `barrier.sync` counts threads.
// sm_90: ends
// sm_35: barrier_divergence
__global__ void k(int *out)
{
    __shared__ int a[64];
    if (threadIdx.x & 1) {
        a[threadIdx.x] = 2 * threadIdx.x;
        asm volatile("barrier.sync 0;" ::: "memory");
        out[threadIdx.x] = a[threadIdx.x ^ 1];
    } else {
        a[threadIdx.x] = 3 * threadIdx.x;
        asm volatile("barrier.sync 0;" ::: "memory");
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
