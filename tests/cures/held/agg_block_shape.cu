// alt: 16 8 | 8 8 | 4 16 | 20 5 | 1 64
// cure: wrong because the lane's number is not `threadIdx.x % 32` in a two-dimensional block
// offered: none
#include <cstdio>
#include <cstdlib>
// the number of a thread in its block: the kernel itself names no threadIdx.y
__device__ unsigned flat_thread() { return threadIdx.y * blockDim.x + threadIdx.x; }
__global__ void count_odd(const int *x, unsigned *odd)
{
    unsigned i = blockIdx.x * blockDim.x * blockDim.y + flat_thread();
    if (x[i] & 1)
        atomicAdd(odd, 1u);
}
int main(int argc, char **argv)
{
    int bx = argc > 1 ? atoi(argv[1]) : 32, by = argc > 2 ? atoi(argv[2]) : 4, n = 2 * bx * by, h[512], *x;
    unsigned r = 0, *odd;
    for (int i = 0; i < n; i++) h[i] = i * i + i / 3;
    cudaMalloc(&x, sizeof h); cudaMalloc(&odd, sizeof r);
    cudaMemcpy(x, h, n * sizeof(int), cudaMemcpyHostToDevice);
    cudaMemset(odd, 0, sizeof r);
    count_odd<<<2, dim3(bx, by)>>>(x, odd);
    cudaMemcpy(&r, odd, sizeof r, cudaMemcpyDeviceToHost);
    printf("%u\n", r);
    cudaFree(x); cudaFree(odd);
}
