// alt: 1 100 | 2 31 | 3 256 | 0 1
// cure: right
// offered: aggregate proved
#include <cstdio>
#include <cstdlib>
#include <climits>
__global__ void minimum(const int *x, int n, int *m)
{
    __shared__ int low;
    if (threadIdx.x == 0) low = INT_MAX;
    __syncthreads();
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) atomicMin(&low, x[i]);
    __syncthreads();
    if (threadIdx.x == 0) atomicMin(m, low);
}
int main(int argc, char **argv)
{
    int mode = argc > 1 ? atoi(argv[1]) : 0, n = argc > 2 ? atoi(argv[2]) : 256, h[256], *x, *m, r = INT_MAX;
    for (int i = 0; i < n; i++) h[i] = mode == 0 ? 500 - i : mode == 1 ? -i : mode == 2 ? INT_MIN + i : 42;
    cudaMalloc(&x, sizeof h); cudaMalloc(&m, sizeof r);
    cudaMemcpy(x, h, n * sizeof(int), cudaMemcpyHostToDevice);
    cudaMemcpy(m, &r, sizeof r, cudaMemcpyHostToDevice);
    minimum<<<(n + 63) / 64, 64>>>(x, n, m);
    cudaMemcpy(&r, m, sizeof r, cudaMemcpyDeviceToHost);
    printf("%d\n", r);
    cudaFree(x); cudaFree(m);
}
