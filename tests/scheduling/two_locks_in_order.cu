#include <stdio.h>
// Accounts with a lock each; every thread moves money between two, the lower lock first.
// sm_90: ends
// sm_35: deadlock
__device__ int locks[4];
__device__ volatile int money[4];
__global__ void k()
{
    int from = threadIdx.x % 4, to = (threadIdx.x + 1 + blockIdx.x % 3) % 4;
    int low = min(from, to), high = max(from, to);
    while (atomicCAS(&locks[low], 0, 1) != 0)
        ;
    while (atomicCAS(&locks[high], 0, 1) != 0)
        ;
    __threadfence();
    money[from] -= threadIdx.x;
    money[to] += threadIdx.x;
    __threadfence();
    atomicExch(&locks[high], 0);
    atomicExch(&locks[low], 0);
}
int main()
{
    int h[4] = {1000, 2000, 3000, 4000}, sum = 0;
    cudaMemcpyToSymbol(money, h, sizeof h);
    k<<<3, 48>>>();
    cudaMemcpyFromSymbol(h, money, sizeof h);
    for (int i = 0; i < 4; i++)
        sum += h[i];
    printf("%s\n", sum == 10000 ? "OK" : "WRONG");
    return 0;
}
