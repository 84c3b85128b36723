// alt: 1 | 31 | 96 | 200
// cure: wrong because the scratch row is read by another thread when the lag is not 0
// offered: none
#include <stdio.h>
#include <stdlib.h>
// the barrier orders global memory, too
__global__ void difference(int *scratch, const int *in, int *out, int lag)
{
    int t = threadIdx.x, n = blockDim.x, *row = scratch + blockIdx.x * n;
    row[t] = in[blockIdx.x * n + t] * 3;
    __syncthreads();
    out[blockIdx.x * n + t] = row[t] - (t >= lag ? row[t - lag] : 0);
}
int main(int argc, char **argv)
{
    int lag = argc > 1 ? atoi(argv[1]) : 0;
    enum { T = 256, N = 2 * T };
    static int h[N];
    int *s, *a, *b;
    for (int i = 0; i < N; i++) h[i] = i * i % 1009;
    cudaMalloc(&s, sizeof h); cudaMalloc(&a, sizeof h); cudaMalloc(&b, sizeof h);
    cudaMemcpy(a, h, sizeof h, cudaMemcpyHostToDevice);
    difference<<<2, T>>>(s, a, b, lag);
    cudaMemcpy(h, b, sizeof h, cudaMemcpyDeviceToHost);
    long long sum = 0;
    for (int i = 0; i < N; i++) sum = sum * 7 + h[i];
    printf("%lld\n", sum);
    cudaFree(s); cudaFree(a); cudaFree(b);
}
