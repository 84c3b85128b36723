// alt: 1 | 2
// cure: right by the first threads on the same elements; wrong by halved distances, because sums of floats depend on the order
// offered: branch checked
#include <cstdio>
#include <cstdlib>
__global__ void sum(const float *x, float *r)
{
    __shared__ float part[256];
    int tid = threadIdx.x;
    part[tid] = x[tid];
    __syncthreads();
    for (int s = 1; s < 256; s <<= 1) {
        if ((tid & (2 * s - 1)) == 0) part[tid] += part[tid + s];
        __syncthreads();
    }
    if (tid == 0) r[0] = part[0];
}
int main(int argc, char **argv)
{
    int mode = argc > 1 ? atoi(argv[1]) : 0;
    float h[256], *x, *r;
    for (int i = 0; i < 256; i++) h[i] = mode == 0 ? i % 8 : mode == 1 ? 1.0f / (i + 1) : (i % 3 ? 1e-3f : 1e7f / (i + 1));
    cudaMalloc(&x, sizeof h); cudaMalloc(&r, sizeof(float));
    cudaMemcpy(x, h, sizeof h, cudaMemcpyHostToDevice);
    sum<<<1, 256>>>(x, r);
    cudaMemcpy(h, r, sizeof(float), cudaMemcpyDeviceToHost);
    printf("%.9g\n", h[0]);
    cudaFree(x); cudaFree(r);
}
