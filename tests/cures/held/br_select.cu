// alt: 64 33 | 1 1 | 96 500 | 256 256
// cure: right
// offered: branch proved
#include <cstdio>
#include <cstdlib>
__global__ void alternate(const float *a, const float *b, float *c, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    float x = a[i], y = b[i];
    if (i % 2 == 0)
        c[i] = x * 2.0f;
    else
        c[i] = y - 1.0f;
}
int main(int argc, char **argv)
{
    int t = argc > 1 ? atoi(argv[1]) : 128, n = argc > 2 ? atoi(argv[2]) : 256;
    float h[512], *a, *b, *c;
    for (int i = 0; i < n; i++) h[i] = i * 0.75f;
    cudaMalloc(&a, n * 4); cudaMalloc(&b, n * 4); cudaMalloc(&c, n * 4);
    cudaMemcpy(a, h, n * 4, cudaMemcpyHostToDevice);
    cudaMemcpy(b, h, n * 4, cudaMemcpyHostToDevice);
    alternate<<<(n + t - 1) / t, t>>>(a, b, c, n);
    cudaMemcpy(h, c, n * 4, cudaMemcpyDeviceToHost);
    for (int i = 0; i < n; i++) printf("%g ", h[i]);
    printf("\n");
    cudaFree(a); cudaFree(b); cudaFree(c);
}
