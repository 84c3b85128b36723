#include <stdio.h>
// Two pairs of warps meet at barriers of their own; each pair passes twice.
// sm_90: ends
// sm_35: ends
__device__ void meet(int id)
{
    asm volatile("bar.sync %0, 64;" ::"r"(id) : "memory");
}
__global__ void k(int *out)
{
    __shared__ int a[128];
    int pair = threadIdx.x / 64, i = threadIdx.x;
    a[i] = i * 3;
    meet(1 + pair);
    int sum = a[i ^ 32];
    meet(1 + pair);
    a[i] = sum + 1;
    meet(1 + pair);
    out[i] = a[i ^ 33];
}
int main()
{
    int *d, h[128], bad = 0;
    cudaMalloc(&d, sizeof h);
    k<<<1, 128>>>(d);
    cudaMemcpy(h, d, sizeof h, cudaMemcpyDeviceToHost);
    for (int i = 0; i < 128; i++)
        bad += h[i] != 3 * ((i ^ 33) ^ 32) + 1;
    printf("%s\n", bad ? "WRONG" : "OK");
    cudaFree(d);
    return 0;
}
