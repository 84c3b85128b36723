// alt: 1 | 2
// cure: wrong because a helper still takes the thread's number as it was
// offered: none
#include <cstdio>
#include <cstdlib>
// each thread takes its own entry of a table: a helper names the thread
__device__ float entry(const float *table) { return table[threadIdx.y * 32 + threadIdx.x]; }
__global__ void stamp(float *m, const float *table)
{
    int r = threadIdx.x, c = threadIdx.y;
    m[r * 32 + c] += entry(table);
}
int main(int argc, char **argv)
{
    int mode = argc > 1 ? atoi(argv[1]) : 0;
    float h[1024], *m, *t;
    for (int i = 0; i < 1024; i++) h[i] = mode == 0 ? i / 32 + i % 32 : mode == 1 ? i : i % 7; // symmetric at first
    cudaMalloc(&m, sizeof h); cudaMalloc(&t, sizeof h);
    cudaMemcpy(m, h, sizeof h, cudaMemcpyHostToDevice);
    cudaMemcpy(t, h, sizeof h, cudaMemcpyHostToDevice);
    stamp<<<1, dim3(32, 32)>>>(m, t);
    cudaMemcpy(h, m, sizeof h, cudaMemcpyDeviceToHost);
    for (int i = 0; i < 1024; i += 31) printf("%g ", h[i]);
    printf("\n");
    cudaFree(m); cudaFree(t);
}
