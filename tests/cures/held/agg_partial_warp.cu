// alt: 48 | 33 | 1 | 100 | 96
// cure: right with `__reduce_add_sync(__activemask())`; wrong with `__shfl_down_sync(0xffffffff)`, as in blocks of 48 the last warp is not whole
// offered: aggregate proved
#include <cstdio>
#include <cstdlib>
__global__ void accumulate(const int *x, int *sum)
{
    int v = x[blockIdx.x * blockDim.x + threadIdx.x];
    atomicAdd(&sum[blockIdx.x], v * v);
}
int main(int argc, char **argv)
{
    int t = argc > 1 ? atoi(argv[1]) : 64, h[2 * 128], *x, *s;
    for (int i = 0; i < 2 * t; i++) h[i] = i % 21 - 10;
    cudaMalloc(&x, sizeof h); cudaMalloc(&s, 2 * sizeof(int));
    cudaMemset(s, 0, 2 * sizeof(int));
    cudaMemcpy(x, h, 2 * t * sizeof(int), cudaMemcpyHostToDevice);
    accumulate<<<2, t>>>(x, s);
    cudaMemcpy(h, s, 2 * sizeof(int), cudaMemcpyDeviceToHost);
    printf("%d %d\n", h[0], h[1]);
    cudaFree(x); cudaFree(s);
}
