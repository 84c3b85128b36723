// alt: 128 | 200 | 96 | 33 | 1
// cure: wrong because halving the distance loses elements of blocks that are no power of two
// offered: branch checked
#include <stdio.h>
#include <stdlib.h>
__global__ void reduce0(int *g_idata, int *g_odata)
{
    extern __shared__ int sdata[];
    unsigned int tid = threadIdx.x;
    sdata[tid] = g_idata[blockIdx.x * blockDim.x + tid];
    __syncthreads();
    for (unsigned int s = 1; s < blockDim.x; s *= 2) {
        if (tid % (2 * s) == 0) {
            if (tid + s < blockDim.x) sdata[tid] += sdata[tid + s];
        }
        __syncthreads();
    }
    if (tid == 0) g_odata[blockIdx.x] = sdata[0];
}
int main(int argc, char **argv)
{
    int t = argc > 1 ? atoi(argv[1]) : 256, h[512], *a, *b;
    for (int i = 0; i < 2 * t; i++) h[i] = i + 1;
    cudaMalloc(&a, 2 * t * sizeof(int)); cudaMalloc(&b, 2 * sizeof(int));
    cudaMemcpy(a, h, 2 * t * sizeof(int), cudaMemcpyHostToDevice);
    reduce0<<<2, t, t * sizeof(int)>>>(a, b);
    cudaMemcpy(h, b, 2 * sizeof(int), cudaMemcpyDeviceToHost);
    printf("%d %d\n", h[0], h[1]);
    cudaFree(a); cudaFree(b);
}
