// alt: 64 | 256 | 96 | 32 | 1
// cure: right
// offered: no_barrier proved
#include <stdio.h>
#include <stdlib.h>
#define MAX_T 256
// one barrier is enough between writing and reading; the second of each pair orders nothing more
__global__ void rotate_left(int *data, int by)
{
    __shared__ int buf[MAX_T];
    int *mine = data + blockIdx.x * blockDim.x;
    buf[threadIdx.x] = mine[threadIdx.x];
    __syncthreads();
    __syncthreads();
    mine[threadIdx.x] = buf[(threadIdx.x + by) % blockDim.x];
}
int main(int argc, char **argv)
{
    int t = argc > 1 ? atoi(argv[1]) : 128;
    const int blocks = 3;
    int h[blocks * MAX_T], *d, n = blocks * t;
    for (int i = 0; i < n; i++) h[i] = i * i % 97;
    cudaMalloc((void **)&d, n * sizeof(int));
    cudaMemcpy(d, h, n * sizeof(int), cudaMemcpyHostToDevice);
    rotate_left<<<blocks, t>>>(d, 5);
    cudaMemcpy(h, d, n * sizeof(int), cudaMemcpyDeviceToHost);
    unsigned hash = 17;
    for (int i = 0; i < n; i++) hash = hash * 31 + h[i];
    printf("%u first %d last %d\n", hash, h[0], h[n - 1]);
    cudaFree(d);
}
