// alt: 1 | 2
// cure: wrong because another path writes the rows as float4, which wider rows misalign
// offered: none
#include <cstdio>
#include <cstdlib>
#define N 32
__global__ void transpose(const float *in, float *out, int wide)
{
    __shared__ float t[N][N];
    int x = threadIdx.x, y = threadIdx.y;
    if (wide) {
        if (x < N / 4)
            *reinterpret_cast<float4 *>(&t[y][4 * x]) = reinterpret_cast<const float4 *>(in)[y * (N / 4) + x];
    } else
        t[y][x] = in[y * N + x];
    __syncthreads();
    out[y * N + x] = t[x][y];
}
int main(int argc, char **argv)
{
    int wide = argc > 1 ? atoi(argv[1]) : 0;
    float h[N * N], *a, *b;
    for (int i = 0; i < N * N; i++) h[i] = i;
    cudaMalloc(&a, sizeof h); cudaMalloc(&b, sizeof h);
    cudaMemcpy(a, h, sizeof h, cudaMemcpyHostToDevice);
    transpose<<<1, dim3(N, N)>>>(a, b, wide);
    cudaMemcpy(h, b, sizeof h, cudaMemcpyDeviceToHost);
    for (int i = 0; i < N * N; i += 37) printf("%g ", h[i]);
    printf("\n");
    cudaFree(a); cudaFree(b);
}
