// alt: 4 | 5 | 12 | 1
// cure: wrong because from the fourth round on a thread reads another one's element
// offered: none
#include <stdio.h>
#include <stdlib.h>
#define NT 64
__global__ void relax(const int *in, int *out, int rounds)
{
    __shared__ int ring[2][NT];
    int t = threadIdx.x, acc = in[t];
    for (int r = 0; r < rounds; r++) {
        ring[r & 1][t] = acc;
        __syncthreads();
        acc += ring[r & 1][(t + (r / 3) * 32) % NT] / 2;
    }
    out[t] = acc;
}
int main(int argc, char **argv)
{
    int rounds = argc > 1 ? atoi(argv[1]) : 3, h[NT], *in, *out;
    for (int i = 0; i < NT; i++) h[i] = 1000 - 13 * i;
    cudaMalloc(&in, sizeof h);
    cudaMalloc(&out, sizeof h);
    cudaMemcpy(in, h, sizeof h, cudaMemcpyHostToDevice);
    relax<<<1, NT>>>(in, out, rounds);
    cudaMemcpy(h, out, sizeof h, cudaMemcpyDeviceToHost);
    for (int i = 0; i < NT; i++) printf("%d ", h[i]);
    printf("\n");
    cudaFree(in); cudaFree(out);
    return 0;
}
