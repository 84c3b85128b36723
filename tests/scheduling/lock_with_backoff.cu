#include <stdio.h>
// The wait between two tries grows, so that no two rounds of the loop are alike.
// sm_90: ends
// sm_70: ends
// sm_35: deadlock
__device__ int lock;
__device__ volatile int sum;
__global__ void k()
{
    unsigned wait = 8;
    while (atomicCAS(&lock, 0, 1) != 0) {
#if __CUDA_ARCH__ >= 700
        __nanosleep(wait);
#endif
        if (wait < 256)
            wait *= 2;
    }
    __threadfence();
    sum += threadIdx.x;
    __threadfence();
    atomicExch(&lock, 0);
}
int main()
{
    k<<<1, 40>>>();
    cudaDeviceSynchronize();
    int n = 0;
    cudaMemcpyFromSymbol(&n, sum, sizeof n);
    printf("%s\n", n == 780 ? "OK" : "WRONG");
    return 0;
}
