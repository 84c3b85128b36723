#include <stdio.h>
// A lane that holds the lock waits at the block's barrier; the others cannot come there without the lock.
// sm_90: deadlock
// sm_35: deadlock
__device__ int lock;
__global__ void k(int *out)
{
    while (atomicCAS(&lock, 0, 1) != 0) //~ deadlock
        ;
    __syncthreads();
    atomicExch(&lock, 0);
    out[threadIdx.x] = 1;
}
int main()
{
    int *d, n = 0;
    cudaMalloc(&d, 32 * sizeof *d);
    k<<<1, 32>>>(d);
    cudaMemcpy(&n, d, sizeof n, cudaMemcpyDeviceToHost);
    printf("%s\n", n == 1 ? "OK" : "WRONG");
    cudaFree(d);
    return 0;
}
