// alt: 48 0 | 64 1 | 100 0 | 96 2
// cure: wrong with shuffles: a partial warp has no lanes to take from, and sums of floats depend on the order
// offered: none
#include <cstdio>
#include <cstdlib>
__global__ void energy(const float *v, float *e)
{
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    atomicAdd(e, 0.5f * v[i] * v[i]);
}
int main(int argc, char **argv)
{
    int t = argc > 1 ? atoi(argv[1]) : 64, mode = argc > 2 ? atoi(argv[2]) : 0;
    float h[256], *v, *e;
    for (int i = 0; i < 2 * t; i++) h[i] = mode == 0 ? i % 6 : mode == 1 ? 1.0f / (i + 3) : 1000.1f * (i % 5);
    cudaMalloc(&v, sizeof h); cudaMalloc(&e, sizeof(float));
    cudaMemset(e, 0, sizeof(float));
    cudaMemcpy(v, h, 2 * t * sizeof(float), cudaMemcpyHostToDevice);
    energy<<<2, t>>>(v, e);
    cudaMemcpy(h, e, sizeof(float), cudaMemcpyDeviceToHost);
    printf("%.9g\n", h[0]);
    cudaFree(v); cudaFree(e);
}
