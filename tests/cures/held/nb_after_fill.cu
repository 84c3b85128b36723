// alt: 64 2 | 96 3 | 256 1 | 32 8
// cure: right: of the two barriers at the loop's end, one
// offered: no_barrier proved
#include <cstdio>
#include <cstdlib>
__global__ void diffuse(float *x, int steps)
{
    __shared__ float s[256];
    int t = threadIdx.x, n = blockDim.x;
    s[t] = x[blockIdx.x * n + t];
    __syncthreads();
    for (int k = 0; k < steps; k++) {
        float l = s[(t + n - 1) % n], r = s[(t + 1) % n];
        __syncthreads();
        s[t] = 0.25f * l + 0.5f * s[t] + 0.25f * r;
        __syncthreads();
        __syncthreads();
    }
    x[blockIdx.x * n + t] = s[t];
}
int main(int argc, char **argv)
{
    int n = argc > 1 ? atoi(argv[1]) : 128, steps = argc > 2 ? atoi(argv[2]) : 4;
    float h[512], *d;
    for (int i = 0; i < 2 * n; i++) h[i] = i % 16 == 0 ? 64 : 0;
    cudaMalloc(&d, sizeof h);
    cudaMemcpy(d, h, 2 * n * sizeof(float), cudaMemcpyHostToDevice);
    diffuse<<<2, n>>>(d, steps);
    cudaMemcpy(h, d, 2 * n * sizeof(float), cudaMemcpyDeviceToHost);
    for (int i = 0; i < 2 * n; i++) printf("%g ", h[i]);
    printf("\n");
    cudaFree(d);
}
