// alt: 1 | 1 full
// cure: wrong because another path reads the tile flat through a pointer
// offered: none
#include <cstdio>
#include <cstdlib>
constexpr int W = 32;
__global__ void turn(const int *in, int *out, bool flat)
{
    __shared__ int tile[W][W];
    const int x = threadIdx.x, y = threadIdx.y, t = y * W + x;
    tile[y][x] = in[t];
    __syncthreads();
    if (flat) {
        const int *p = &tile[0][0];
        out[t] = p[W * W - 1 - t];
    } else
        out[t] = tile[x][y];
}
int main(int argc, char **argv)
{
    int h[W * W], *a, *b;
    for (int i = 0; i < W * W; i++) h[i] = i * 3 + 1;
    cudaMalloc(&a, sizeof h); cudaMalloc(&b, sizeof h);
    cudaMemcpy(a, h, sizeof h, cudaMemcpyHostToDevice);
    turn<<<1, dim3(W, W)>>>(a, b, argc > 1 && atoi(argv[1]) != 0);
    cudaMemcpy(h, b, sizeof h, cudaMemcpyDeviceToHost);
    unsigned hash = 0;
    for (int i = 0; i < W * W; i++) hash = hash * 131 + h[i];
    printf("%08x\n", hash);
    if (argc > 2) for (int i = 0; i < W * W; i++) printf("%d ", h[i]);
    cudaFree(a); cudaFree(b);
}
