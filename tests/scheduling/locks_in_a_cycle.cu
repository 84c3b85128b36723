#include <stdio.h>
// Two lanes take two locks in opposite orders, and each waits until the other has its first one.
// sm_90: deadlock
// sm_35: deadlock
__device__ int locks[2];
__device__ int ready;
__global__ void k()
{
    int mine = threadIdx.x, other = 1 - mine;
    while (atomicCAS(&locks[mine], 0, 1) != 0)
        ;
    atomicAdd(&ready, 1);
    while (atomicAdd(&ready, 0) != 2)
        ;
    while (atomicCAS(&locks[other], 0, 1) != 0) //~ deadlock
        ;
    __threadfence();
    atomicExch(&locks[other], 0);
    atomicExch(&locks[mine], 0);
}
int main()
{
    k<<<1, 2>>>();
    printf("%s\n", cudaDeviceSynchronize() == cudaSuccess ? "OK" : "WRONG");
    return 0;
}
