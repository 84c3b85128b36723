// alt: 1 | 2 | 7 | 8
// cure: right
// mended: buf[cur][t] = ==> buf[cur ^ 1][t] =
// offered: index checked
#include <cstdio>
#include <cstdlib>
__global__ void pipeline(const float *in, float *out, int tiles)
{
    __shared__ float buf[2][128];
    int t = threadIdx.x, cur = 0;
    float acc = 0;
    buf[0][t] = in[t];
    __syncthreads();
    for (int k = 0; k < tiles; k++) {
        if (k + 1 < tiles) buf[cur][t] = in[(k + 1) * 128 + t];
        acc += buf[cur][127 - t];
        __syncthreads();
        cur ^= 1;
    }
    out[t] = acc;
}
int main(int argc, char **argv)
{
    int tiles = argc > 1 ? atoi(argv[1]) : 4;
    static float h[1024];
    float *a, *b;
    for (int i = 0; i < 1024; i++) h[i] = i % 50;
    cudaMalloc(&a, sizeof h); cudaMalloc(&b, 512);
    cudaMemcpy(a, h, sizeof h, cudaMemcpyHostToDevice);
    pipeline<<<1, 128>>>(a, b, tiles);
    cudaMemcpy(h, b, 512, cudaMemcpyDeviceToHost);
    for (int i = 0; i < 128; i++) printf("%g ", h[i]);
    printf("\n");
    cudaFree(a); cudaFree(b);
}
