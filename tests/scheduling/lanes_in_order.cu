#include <stdio.h>
// Each lane waits for the lane before it.
// sm_90: ends
// sm_35: deadlock
__global__ void k(int *out)
{
    __shared__ volatile int turn;
    __shared__ int sum;
    if (threadIdx.x == 0) {
        turn = 0;
        sum = 1;
    }
    __syncthreads();
    while (turn != threadIdx.x)
        ;
    __threadfence_block();
    sum = sum * 3u + threadIdx.x;
    __threadfence_block();
    turn = threadIdx.x + 1;
    __syncthreads();
    if (threadIdx.x == 0)
        *out = sum;
}
int main()
{
    int *d, n = 0, want = 1;
    cudaMalloc(&d, sizeof *d);
    k<<<1, 32>>>(d);
    cudaMemcpy(&n, d, sizeof n, cudaMemcpyDeviceToHost);
    for (int i = 0; i < 32; i++)
        want = (int)((unsigned)want * 3u + (unsigned)i);
    printf("%s\n", n == want ? "OK" : "WRONG");
    cudaFree(d);
    return 0;
}
