#include <stdio.h>
// Lanes leave a lock at different times and then exchange values: the shuffle waits for all that its mask names.
// sm_90: ends
// sm_35: deadlock
__device__ int lock, counter;
__global__ void k(int *out)
{
    while (atomicCAS(&lock, 0, 1) != 0)
        ;
    __threadfence();
    int ticket = counter++;
    __threadfence();
    atomicExch(&lock, 0);
    int sum = ticket;
    for (int step = 16; step > 0; step /= 2)
        sum += __shfl_xor_sync(0xffffffffu, sum, step);
    out[threadIdx.x] = sum;
}
int main()
{
    int *d, h[32], bad = 0;
    cudaMalloc(&d, sizeof h);
    k<<<1, 32>>>(d);
    cudaMemcpy(h, d, sizeof h, cudaMemcpyDeviceToHost);
    for (int i = 0; i < 32; i++)
        bad += h[i] != 496;
    printf("%s\n", bad ? "WRONG" : "OK");
    cudaFree(d);
    return 0;
}
