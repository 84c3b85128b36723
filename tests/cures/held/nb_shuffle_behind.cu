// alt: 1 5 | 0 31 | 3 0 | 2 17
// cure: wrong because the source lane's block of shared memory is chosen by a parameter
// offered: none
#include <cstdio>
#include <cstdlib>
__global__ void mixed(const int *in, int *out, int step, int lane)
{
    __shared__ int s[128];
    const int t = threadIdx.x;
    s[t] = in[t];
    __syncthreads();
    int other = __shfl_sync(0xffffffffu, s[(t + 32 * step) & 127], lane);
    out[t] = other + s[t];
}
int main(int argc, char **argv)
{
    int step = argc > 1 ? atoi(argv[1]) : 0, lane = argc > 2 ? atoi(argv[2]) : 3;
    int h[128], *a, *b;
    for (int i = 0; i < 128; i++) h[i] = i * 3;
    cudaMalloc(&a, sizeof h); cudaMalloc(&b, sizeof h);
    cudaMemcpy(a, h, sizeof h, cudaMemcpyHostToDevice);
    mixed<<<1, 128>>>(a, b, step, lane);
    cudaMemcpy(h, b, sizeof h, cudaMemcpyDeviceToHost);
    for (int i = 0; i < 128; i++) printf("%d ", h[i]);
    puts("");
    cudaFree(a); cudaFree(b);
}
