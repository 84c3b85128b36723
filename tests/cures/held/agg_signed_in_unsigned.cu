// alt: 1 | 2
// cure: wrong because the target is unsigned and the values are int: the maximum of a warp is then another one
// offered: none
#include <cstdio>
#include <cstdlib>
__global__ void farthest(const int *offsets, unsigned *result)
{
    atomicMax(result, offsets[blockIdx.x * blockDim.x + threadIdx.x]);
}
int main(int argc, char **argv)
{
    int mode = argc > 1 ? atoi(argv[1]) : 0;
    const int n = 256;
    int h[n], *d;
    unsigned r = 0, *result;
    for (int i = 0; i < n; i++) h[i] = mode == 0 ? i * 9 % 113 : mode == 1 ? i - 128 : -i;
    cudaMalloc(&d, sizeof h); cudaMalloc(&result, sizeof r);
    cudaMemcpy(d, h, sizeof h, cudaMemcpyHostToDevice);
    cudaMemcpy(result, &r, sizeof r, cudaMemcpyHostToDevice);
    farthest<<<2, 128>>>(d, result);
    cudaMemcpy(&r, result, sizeof r, cudaMemcpyDeviceToHost);
    printf("%u\n", r);
    cudaFree(d); cudaFree(result);
}
