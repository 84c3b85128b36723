// alt: 1 | 2
// cure: wrong because a second path reads the tile in the order of its words
// offered: none
#include <cstdio>
#include <cstdlib>
#define TS 64
__global__ void turned(const float *in, float *out, int flat)
{
    __shared__ float tile[TS][TS];
    __shared__ float rest[8192];
    int t = threadIdx.y * 32 + threadIdx.x;
    for (int i = t; i < 8192; i += 512) rest[i] = i & 1;
    for (int i = t; i < TS * TS; i += 512) tile[i / TS][i % TS] = in[i];
    __syncthreads();
    const float *words = &tile[0][0];
    for (int i = t; i < TS * TS; i += 512) {
        if (flat) out[i] = words[TS * TS - 1 - i] * flat;
        else out[i] = tile[i % TS][i / TS] + rest[i & 8191];
    }
}
int main(int argc, char **argv)
{
    int flat = argc > 1 ? atoi(argv[1]) : 0;
    static float h[TS * TS];
    float *a, *b;
    for (int i = 0; i < TS * TS; i++) h[i] = i % 509;
    cudaMalloc(&a, sizeof h); cudaMalloc(&b, sizeof h);
    cudaMemcpy(a, h, sizeof h, cudaMemcpyHostToDevice);
    turned<<<1, dim3(32, 16)>>>(a, b, flat);
    cudaMemcpy(h, b, sizeof h, cudaMemcpyDeviceToHost);
    double s = 0;
    for (int i = 0; i < TS * TS; i++) s += h[i] * (i % 23);
    printf("%.0f\n", s);
    cudaFree(a); cudaFree(b);
}
