// alt: 128 | 192 | 1 | 250
// cure: right where the store is guarded and the barrier is not: `if (i < n)`; `in` has room for whole blocks
// mended: out[i] = s[t ^ 1]; ==> if (i < n) out[i] = s[t ^ 1];
// offered: guard checked
#include <cstdio>
#include <cstdlib>
__global__ void swap_pairs(const int *in, int *out, int n)
{
    __shared__ int s[64];
    int t = threadIdx.x;
    int i = blockIdx.x * 64 + t;
    s[t] = in[i];
    __syncthreads();
    out[i] = s[t ^ 1];
}
int main(int argc, char **argv)
{
    int n = argc > 1 ? atoi(argv[1]) : 100, h[256], *a, *b;
    for (int i = 0; i < n; i++) h[i] = i + 1;
    cudaMalloc(&a, sizeof h); cudaMalloc(&b, n * 4);
    cudaMemset(a, 0, sizeof h);
    cudaMemcpy(a, h, n * 4, cudaMemcpyHostToDevice);
    swap_pairs<<<(n + 63) / 64, 64>>>(a, b, n);
    cudaMemcpy(h, b, n * 4, cudaMemcpyDeviceToHost);
    for (int i = 0; i < n; i++) printf("%d ", h[i]);
    printf("\n");
    cudaFree(a); cudaFree(b);
}
