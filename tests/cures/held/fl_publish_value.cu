// alt: 5 | 2 | 9
// cure: right: a fence before the flag
// mended: atomicExch(&ready, 1u); ==> __threadfence(); atomicExch(&ready, 1u);
// offered: fence checked
#include <cstdio>
#include <cstdlib>
__device__ int message[4];
__device__ unsigned ready;
__global__ void relay(const int *in, int *out)
{
    if (threadIdx.x != 0) return;
    if (blockIdx.x == 0) {
        for (int i = 0; i < 4; i++) message[i] = in[i] * 10;
        atomicExch(&ready, 1u);
    } else {
        while (atomicAdd(&ready, 0u) == 0) { }
        __threadfence();
        out[blockIdx.x] = message[0] + message[blockIdx.x % 4];
    }
}
int main(int argc, char **argv)
{
    int blocks = argc > 1 ? atoi(argv[1]) : 3, h[16] = {1, 2, 3, 4}, *a, *b;
    cudaMalloc(&a, sizeof h); cudaMalloc(&b, sizeof h);
    cudaMemcpy(a, h, sizeof h, cudaMemcpyHostToDevice);
    cudaMemset(b, 0, sizeof h);
    relay<<<blocks, 32>>>(a, b);
    cudaMemcpy(h, b, sizeof h, cudaMemcpyDeviceToHost);
    for (int i = 0; i < blocks; i++) printf("%d ", h[i]);
    printf("\n");
    cudaFree(a); cudaFree(b);
}
