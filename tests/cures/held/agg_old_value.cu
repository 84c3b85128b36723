// alt: 100 | 33 | 1 | 255
// cure: none needed: the old value is each thread's place, which one update for the warp does not give
// offered: none
#include <cstdio>
#include <cstdlib>
#include <algorithm>
__global__ void compact(const int *in, int *out, int *used, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n && in[i] > 0) {
        int at = atomicAdd(used, 1);
        out[at] = in[i];
    }
}
int main(int argc, char **argv)
{
    int n = argc > 1 ? atoi(argv[1]) : 256, h[256], count, *a, *b, *u;
    for (int i = 0; i < n; i++) h[i] = i * 37 % 41 - 20;
    cudaMalloc(&a, sizeof h); cudaMalloc(&b, sizeof h); cudaMalloc(&u, sizeof(int));
    cudaMemset(u, 0, sizeof(int));
    cudaMemcpy(a, h, n * sizeof(int), cudaMemcpyHostToDevice);
    compact<<<(n + 63) / 64, 64>>>(a, b, u, n);
    cudaMemcpy(&count, u, sizeof(int), cudaMemcpyDeviceToHost);
    cudaMemcpy(h, b, count * sizeof(int), cudaMemcpyDeviceToHost);
    std::sort(h, h + count);
    printf("%d:", count);
    for (int i = 0; i < count; i++) printf(" %d", h[i]);
    printf("\n");
    cudaFree(a); cudaFree(b); cudaFree(u);
}
