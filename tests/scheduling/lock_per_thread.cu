#include <stdio.h>
// Every thread of two blocks takes one lock in a plain loop.
// sm_90: ends
// sm_35: deadlock
__device__ int lock, counter;
__global__ void k()
{
    while (atomicCAS(&lock, 0, 1) != 0)
        ;
    __threadfence();
    counter = counter + 1;
    __threadfence();
    atomicExch(&lock, 0);
}
int main()
{
    k<<<2, 64>>>();
    cudaDeviceSynchronize();
    int n = 0;
    cudaMemcpyFromSymbol(&n, counter, sizeof n);
    printf("%s\n", n == 128 ? "OK" : "WRONG");
    return 0;
}
