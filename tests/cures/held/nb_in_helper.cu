// alt: 64 3 | 96 1 | 192 9 | 32 0
// cure: right
// offered: no_barrier proved
#include <cstdio>
#include <cstdlib>
#define MAXB 192
// a helper that parks a value in shared memory and takes it back
__device__ float parked(float *slot, float v)
{
    slot[threadIdx.x] = v;
    __syncthreads();
    return slot[threadIdx.x] + 1.0f;
}
__global__ void iterate(float *x, int rounds)
{
    __shared__ float slot[MAXB];
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    float v = x[i];
    for (int r = 0; r < rounds; ++r)
        v = parked(slot, v) * 0.5f;
    x[i] = v;
}
int main(int argc, char **argv)
{
    int t = argc > 1 ? atoi(argv[1]) : 128, rounds = argc > 2 ? atoi(argv[2]) : 4;
    float h[2 * MAXB], *d;
    for (int i = 0; i < 2 * t; i++) h[i] = i;
    cudaMalloc(&d, 2 * t * sizeof(float));
    cudaMemcpy(d, h, 2 * t * sizeof(float), cudaMemcpyHostToDevice);
    iterate<<<2, t>>>(d, rounds);
    cudaMemcpy(h, d, 2 * t * sizeof(float), cudaMemcpyDeviceToHost);
    for (int i = 0; i < 2 * t; i++) printf("%g ", h[i]);
    printf("\n");
    cudaFree(d);
}
