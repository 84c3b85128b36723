// alt: 1 | 3
// cure: right: `column ^ row % 32`
// offered: swizzle proved
#include <cstdio>
#include <cstdlib>
#define BANKS 32
template <int THREADS>
__global__ void private_sums(const int *key, float *out, int rounds)
{
    __shared__ float mine[THREADS][BANKS];
    __shared__ float table[8188];
    const int t = threadIdx.x;
    for (int i = t; i < 8188; i += THREADS) table[i] = i % 5;
    for (int b = 0; b < BANKS; b++) mine[t][b] = 0;
    for (int r = 0; r < rounds; r++)
        mine[t][key[r * THREADS + t] % BANKS] += table[t];
    __syncthreads();
    for (int b = t; b < BANKS; b += THREADS) {
        float s = 0;
        for (int w = 0; w < THREADS; w++) s += mine[w][b];
        out[b] = s;
    }
}
int main(int argc, char **argv)
{
    int rounds = argc > 1 ? atoi(argv[1]) : 4, h[512], *k;
    float r[BANKS], *o;
    for (int i = 0; i < 512; i++) h[i] = i / 128 * 7;
    cudaMalloc(&k, sizeof h); cudaMalloc(&o, sizeof r);
    cudaMemcpy(k, h, sizeof h, cudaMemcpyHostToDevice);
    private_sums<128><<<1, 128>>>(k, o, rounds);
    cudaMemcpy(r, o, sizeof r, cudaMemcpyDeviceToHost);
    for (float v : r) printf("%g ", v);
    printf("\n");
    cudaFree(k); cudaFree(o);
}
