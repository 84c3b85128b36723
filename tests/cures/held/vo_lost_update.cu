// alt: 2 | 5 | 1
// cure: none needed: volatile would only hide the race, in which the blocks still overwrite each other's sums; right is an atomicAdd
// wrong: volatile fence
// mended: *total = *total + s; ==> atomicAdd(total, s);
// offered: none
#include <cstdio>
#include <cstdlib>
__global__ void add_blocks(const int *x, int *total)
{
    if (threadIdx.x == 0) {
        int s = 0;
        for (int k = 0; k < 32; k++) s += x[blockIdx.x * 32 + k];
        *total = *total + s;
    }
}
int main(int argc, char **argv)
{
    int blocks = argc > 1 ? atoi(argv[1]) : 3, h[160], *x, *t;
    for (int i = 0; i < 160; i++) h[i] = i;
    cudaMalloc(&x, sizeof h); cudaMalloc(&t, 4);
    cudaMemcpy(x, h, sizeof h, cudaMemcpyHostToDevice);
    cudaMemset(t, 0, 4);
    add_blocks<<<blocks, 32>>>(x, t);
    cudaMemcpy(h, t, 4, cudaMemcpyDeviceToHost);
    printf("%d\n", h[0]);
    cudaFree(x); cudaFree(t);
}
