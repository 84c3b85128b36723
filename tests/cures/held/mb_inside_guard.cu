// alt: 200 | 100 | 32 | 33
// cure: wrong inside the branch, because with other lengths not all threads take it; right are two branches with the barrier between them
// mended: s[threadIdx.x] = in[i]; ==> s[threadIdx.x] = in[i]; } __syncthreads(); if (i < n) {
// offered: none
#include <cstdio>
#include <cstdlib>
#define B 128
__global__ void shift_up(const int *in, int *out, int n)
{
    __shared__ int s[B];
    int i = blockIdx.x * B + threadIdx.x;
    if (i < n) {
        s[threadIdx.x] = in[i];
        out[i] = threadIdx.x > 0 ? s[threadIdx.x - 1] : -1;
    }
}
int main(int argc, char **argv)
{
    int n = argc > 1 ? atoi(argv[1]) : 256, h[256], *a, *b;
    for (int i = 0; i < n; i++) h[i] = i * 2;
    cudaMalloc(&a, sizeof h); cudaMalloc(&b, sizeof h);
    cudaMemcpy(a, h, n * sizeof(int), cudaMemcpyHostToDevice);
    shift_up<<<(n + B - 1) / B, B>>>(a, b, n);
    cudaMemcpy(h, b, n * sizeof(int), cudaMemcpyDeviceToHost);
    for (int i = 0; i < n; i++) printf("%d ", h[i]);
    printf("\n");
    cudaFree(a); cudaFree(b);
}
