#include <stdio.h>
// The holder does its work inside the loop: no lane waits for one that has left.
// sm_90: ends
// sm_35: ends
__device__ int lock, counter;
__global__ void k()
{
    bool done = false;
    while (!done) {
        if (atomicCAS(&lock, 0, 1) == 0) {
            __threadfence();
            counter = counter + 1;
            __threadfence();
            atomicExch(&lock, 0);
            done = true;
        }
    }
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
