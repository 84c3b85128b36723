// alt: 64 3 | 128 10 | 64 0 | 192 1
// cure: wrong with `i >= rounds`: the number of rounds happens to be the number of elements
// offered: none
#include <cstdio>
#include <cstdlib>
__global__ void collatz(unsigned *v, int rounds)
{
    const int i = blockDim.x * blockIdx.x + threadIdx.x;
    unsigned x = v[i];
    for (int k = 0; k < rounds; k++) x = x % 2 ? 3 * x + 1 : x / 2;
    v[i] = x;
}
int main(int argc, char **argv)
{
    int n = argc > 1 ? atoi(argv[1]) : 40, rounds = argc > 2 ? atoi(argv[2]) : 40;
    unsigned *h = new unsigned[n], *d;
    for (int i = 0; i < n; i++) h[i] = i + 7;
    cudaMalloc(&d, n * sizeof(unsigned));
    cudaMemcpy(d, h, n * sizeof(unsigned), cudaMemcpyHostToDevice);
    collatz<<<(n + 63) / 64, 64>>>(d, rounds);
    cudaMemcpy(h, d, n * sizeof(unsigned), cudaMemcpyDeviceToHost);
    for (int i = 0; i < n; i++) printf("%u ", h[i]);
    printf("\n");
    cudaFree(d);
    delete[] h;
}
