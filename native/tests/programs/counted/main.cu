#include "kernels.h"
#include <cstdio>
#include <cstdlib>
#include <vector>
__global__ void transpose(float *out, const float *in, int n)
{
    int x = blockIdx.x * 32 + threadIdx.x, y = blockIdx.y * 8 + threadIdx.y;
    out[x * n + y] = in[y * n + x];
}
__global__ void step(int *a, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) a[i] = 2 * i + 1;
}
int main(int argc, char **argv)
{
    int n = atoi(argv[1]);
    bool is_managed = argc > 2;
    size_t bytes = size_t(n) * n * sizeof(float);
    float *a, *b;
    int *count, *m, many = 0;
    cudaMalloc(&a, bytes), cudaMalloc(&b, bytes), cudaMalloc(&count, sizeof(int));
    cudaMemset(count, 0, sizeof(int));
    std::vector<float> h(n);
    for (int i = 0; i < n; i++) h[i] = i;
    cudaMemcpy(a, h.data(), n * sizeof(float), cudaMemcpyHostToDevice);
    if (is_managed) {
        cudaMallocManaged(&m, n * sizeof(int));
        step<<<n / 128, 128>>>(m, n);
        cudaDeviceSynchronize();
        printf("m[5] = %d\n", m[5]);
    }
    transpose<<<dim3(n / 32, n / 8), dim3(32, 8)>>>(b, a, n);
    twice(a, b, n);
    transpose<<<dim3(n / 32, n / 8), dim3(32, 8)>>>(b, a, n);
    cudaMemcpy(h.data(), b, n * sizeof(float), cudaMemcpyDeviceToHost);
    printf("h[3] = %g\n", h[3]);
    large_ones(b, count, n);
    cudaMemcpy(&many, count, sizeof(int), cudaMemcpyDeviceToHost);
    printf("%d at least 100\n", many);
}
