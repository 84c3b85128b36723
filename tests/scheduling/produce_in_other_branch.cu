#include <stdio.h>
// One side of an if waits for what the other side writes.
// sm_90: ends
// sm_35: deadlock
__global__ void k(int *out)
{
    __shared__ volatile int flag, data;
    if (threadIdx.x == 0)
        flag = 0;
    __syncthreads();
    if (threadIdx.x < 16) {
        while (flag == 0)
            ;
        __threadfence_block();
        out[threadIdx.x] = data + threadIdx.x;
    } else if (threadIdx.x == 20) {
        data = 70;
        __threadfence_block();
        flag = 1;
    }
}
int main()
{
    int *d, h[16], bad = 0;
    cudaMalloc(&d, sizeof h);
    k<<<1, 32>>>(d);
    cudaMemcpy(h, d, sizeof h, cudaMemcpyDeviceToHost);
    for (int i = 0; i < 16; i++)
        bad += h[i] != 70 + i;
    printf("%s\n", bad ? "WRONG" : "OK");
    cudaFree(d);
    return 0;
}
