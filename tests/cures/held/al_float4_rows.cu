// alt: 32 | 1 | 7
// cure: right: rows of a multiple of four
// mended: 32 + PAD ==> 32 + 4 * PAD
// offered: none
#include <cstdio>
#include <cstdlib>
#define PAD 1
__global__ void rows4(const float4 *in, float *out, int rows)
{
    __shared__ float tile[32][32 + PAD];
    int x = threadIdx.x, y = threadIdx.y;
    if (y < rows) *(float4 *)&tile[y][4 * x] = in[y * 8 + x];
    __syncthreads();
    float s = 0;
    if (y < rows)
        for (int k = 0; k < 4; k++) s += tile[y][x * 4 + k] * (k + 1);
    if (y < rows) out[y * 8 + x] = s;
}
int main(int argc, char **argv)
{
    int rows = argc > 1 ? atoi(argv[1]) : 16;
    float h[1024], *a, *b;
    for (int i = 0; i < 1024; i++) h[i] = i % 100;
    cudaMalloc(&a, sizeof h); cudaMalloc(&b, sizeof h);
    cudaMemcpy(a, h, sizeof h, cudaMemcpyHostToDevice);
    rows4<<<1, dim3(8, 32)>>>((float4 *)a, b, rows);
    cudaMemcpy(h, b, rows * 8 * sizeof(float), cudaMemcpyDeviceToHost);
    for (int i = 0; i < rows * 8; i++) printf("%g ", h[i]);
    printf("\n");
    cudaFree(a); cudaFree(b);
}
