// alt: 64 16 | 128 300 | 256 5 | 192 0
// cure: wrong with `i >= limit`: the limit is a value that happens to be the length here
// offered: none
#include <cstdio>
#include <cstdlib>
#include <vector>
__global__ void clamp_to(int *v, int limit)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (v[i] > limit) v[i] = limit;
}
int main(int argc, char **argv)
{
    int n = argc > 1 ? atoi(argv[1]) : 100, limit = argc > 2 ? atoi(argv[2]) : 100;
    std::vector<int> h(n);
    for (int i = 0; i < n; i++) h[i] = i * 3 - 20;
    int *d;
    cudaMalloc(&d, n * sizeof(int));
    cudaMemcpy(d, h.data(), n * sizeof(int), cudaMemcpyHostToDevice);
    clamp_to<<<(n + 63) / 64, 64>>>(d, limit);
    cudaMemcpy(h.data(), d, n * sizeof(int), cudaMemcpyDeviceToHost);
    for (int v : h) printf("%d ", v);
    printf("\n");
    cudaFree(d);
}
