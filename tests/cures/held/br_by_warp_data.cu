// alt: 1 | 2
// cure: wrong because which thread does what matters once the values differ
// offered: none
#include <cstdio>
#include <cstdlib>
#include <cmath>
__global__ void filter(const float *x, float *y)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    float v = x[i];
    if (threadIdx.x % 2) {
        for (int k = 0; k < 4; k++) v = v * v;
    } else {
        v = sqrtf(v) * sqrtf(v);
    }
    y[i] = v;
}
int main(int argc, char **argv)
{
    int mode = argc > 1 ? atoi(argv[1]) : 0;
    const int n = 256;
    float h[n], *x, *y;
    for (int i = 0; i < n; i++) h[i] = mode == 0 ? 1.0f : mode == 1 ? 4.0f : (i % 4) / 2.0f;
    cudaMalloc(&x, sizeof h); cudaMalloc(&y, sizeof h);
    cudaMemcpy(x, h, sizeof h, cudaMemcpyHostToDevice);
    filter<<<2, 128>>>(x, y);
    cudaMemcpy(h, y, sizeof h, cudaMemcpyDeviceToHost);
    for (int i = 0; i < n; i++) printf("%g ", h[i]);
    printf("\n");
    cudaFree(x); cudaFree(y);
}
