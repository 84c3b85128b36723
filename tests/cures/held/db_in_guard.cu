// alt: 256 | 200 | 100 | 1 | 128
// cure: right: end the branch before the barrier and begin it again behind it
// mended: __syncthreads(); ==> } __syncthreads(); if (i < n) {
// offered: barrier checked
#include <cstdio>
#include <cstdlib>
#define B 128
__global__ void neighbours(const int *in, int *out, int n)
{
    __shared__ int s[B];
    int i = blockIdx.x * B + threadIdx.x;
    if (i < n) {
        s[threadIdx.x] = in[i];
        __syncthreads();
        out[i] = threadIdx.x > 0 ? s[threadIdx.x] - s[threadIdx.x - 1] : s[0];
    }
}
int main(int argc, char **argv)
{
    int n = argc > 1 ? atoi(argv[1]) : 300, *h = (int *)malloc(n * sizeof(int)), *a, *b;
    for (int i = 0; i < n; i++) h[i] = i * i % 71;
    cudaMalloc(&a, n * sizeof(int)); cudaMalloc(&b, n * sizeof(int));
    cudaMemcpy(a, h, n * sizeof(int), cudaMemcpyHostToDevice);
    neighbours<<<(n + B - 1) / B, B>>>(a, b, n);
    cudaMemcpy(h, b, n * sizeof(int), cudaMemcpyDeviceToHost);
    for (int i = 0; i < n; i++) printf("%d ", h[i]);
    printf("\n");
    cudaFree(a); cudaFree(b); free(h);
}
