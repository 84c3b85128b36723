// alt: 96 1 | 64 0 | 33 1 | 256 0
// cure: right in `square`; the barrier of `mirror` is needed
// offered: no_barrier proved
#include <cstdio>
#include <cstdlib>
__global__ void square(int *x)
{
    __shared__ int s[256];
    s[threadIdx.x] = x[threadIdx.x];
    __syncthreads();
    x[threadIdx.x] = s[threadIdx.x] * s[threadIdx.x];
}
__global__ void mirror(int *x, int mirrored)
{
    __shared__ int s[256];
    s[threadIdx.x] = x[threadIdx.x];
    __syncthreads();
    x[threadIdx.x] = s[mirrored ? blockDim.x - 1 - threadIdx.x : threadIdx.x];
}
int main(int argc, char **argv)
{
    int n = argc > 1 ? atoi(argv[1]) : 128, mirrored = argc > 2 ? atoi(argv[2]) : 0, h[256], *d;
    for (int i = 0; i < n; i++) h[i] = i - 30;
    cudaMalloc(&d, sizeof h);
    cudaMemcpy(d, h, n * sizeof(int), cudaMemcpyHostToDevice);
    square<<<1, n>>>(d);
    mirror<<<1, n>>>(d, mirrored);
    cudaMemcpy(h, d, n * sizeof(int), cudaMemcpyDeviceToHost);
    for (int i = 0; i < n; i++) printf("%d ", h[i]);
    printf("\n");
    cudaFree(d);
}
