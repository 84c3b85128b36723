// alt: 1 | 2 | 3
// cure: wrong because the warp's sum is taken in 32 bits: it needs 64
// offered: none
#include <cstdio>
#include <cstdlib>
#include <vector>
__global__ void total(const unsigned *x, unsigned long long *sum, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        atomicAdd(sum, x[i]);
}
int main(int argc, char **argv)
{
    int mode = argc > 1 ? atoi(argv[1]) : 0, n = 700;
    std::vector<unsigned> h(n);
    for (int i = 0; i < n; i++) h[i] = mode == 0 ? i : mode == 1 ? 4000000000u : mode == 2 ? 0xffffffffu - i : (i % 2 ? 0x80000000u : 3);
    unsigned *x;
    unsigned long long *s, r = 0;
    cudaMalloc(&x, n * sizeof(unsigned)); cudaMalloc(&s, sizeof r);
    cudaMemcpy(x, h.data(), n * sizeof(unsigned), cudaMemcpyHostToDevice);
    cudaMemcpy(s, &r, sizeof r, cudaMemcpyHostToDevice);
    total<<<(n + 127) / 128, 128>>>(x, s, n);
    cudaMemcpy(&r, s, sizeof r, cudaMemcpyDeviceToHost);
    printf("%llu\n", r);
    cudaFree(x); cudaFree(s);
}
