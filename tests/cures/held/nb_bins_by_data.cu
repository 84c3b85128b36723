// alt: 1 | 2 | 3
// cure: wrong because a bin that a thread counts into is set to 0 by another one
// offered: none
#include <cstdio>
#include <cstdlib>
__global__ void count_bytes(const unsigned char *text, unsigned *bins)
{
    __shared__ unsigned local[128];
    int t = threadIdx.x;
    local[t] = 0;
    __syncthreads();
    atomicAdd(&local[text[t] & 127], 1u);
    __syncthreads();
    bins[t] = local[t];
}
int main(int argc, char **argv)
{
    const int N = 128;
    int mode = argc > 1 ? atoi(argv[1]) : 0;
    unsigned char h[N], *text;
    unsigned b[N], *bins;
    for (int i = 0; i < N; i++) h[i] = mode == 0 ? i : mode == 1 ? N - 1 - i : mode == 2 ? 65 : i * i;
    cudaMalloc(&text, N); cudaMalloc(&bins, sizeof b);
    cudaMemcpy(text, h, N, cudaMemcpyHostToDevice);
    count_bytes<<<1, N>>>(text, bins);
    cudaMemcpy(b, bins, sizeof b, cudaMemcpyDeviceToHost);
    for (int i = 0; i < N; i++) printf("%u ", b[i]);
    printf("\n");
    cudaFree(text); cudaFree(bins);
}
