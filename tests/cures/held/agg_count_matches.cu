// alt: 1000 7 | 33 96 | 1 0 | 256 1 96 | 0 3
// cure: right
// offered: aggregate proved
#include <cstdio>
#include <cstdlib>
__global__ void count_equal(const int *v, int n, int key, int *count)
{
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += blockDim.x * gridDim.x)
        if (v[i] == key)
            atomicAdd(count, 1);
}
int main(int argc, char **argv)
{
    int n = argc > 1 ? atoi(argv[1]) : 512, key = argc > 2 ? atoi(argv[2]) : 3, threads = argc > 3 ? atoi(argv[3]) : 128;
    int *h = (int *)calloc(n + 1, sizeof(int)), *v, *c;
    for (int i = 0; i < n; i++) h[i] = i % 4;
    cudaMalloc(&v, (n + 1) * sizeof(int)); cudaMalloc(&c, sizeof(int));
    cudaMemset(c, 0, sizeof(int));
    cudaMemcpy(v, h, n * sizeof(int), cudaMemcpyHostToDevice);
    count_equal<<<2, threads>>>(v, n, key, c);
    cudaMemcpy(h, c, sizeof(int), cudaMemcpyDeviceToHost);
    printf("%d\n", h[0]);
    cudaFree(v); cudaFree(c); free(h);
}
