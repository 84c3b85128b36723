#include <cstdio>
#include <cstdlib>

#include "my first.h"

void more(int *p, int n);

__global__ void scale(int *p, int by)
{
    __shared__ int s[32][32];
    s[threadIdx.x][0] = p[threadIdx.x];
    __syncthreads();
    p[threadIdx.x] = by * s[threadIdx.x][0] + FIRST;
}

int main(int argc, char **argv)
{
    int *p;
    if (cudaMalloc(&p, 32 * sizeof(int)) != cudaSuccess) {
        printf("%s\n", cudaGetErrorString(cudaGetLastError()));
        return 3;
    }
    int start[32];
    for (int i = 0; i < 32; ++i) start[i] = i;
    cudaMemcpy(p, start, sizeof(start), cudaMemcpyHostToDevice);
    scale<<<1, 32>>>(p, argc > 1 ? atoi(argv[1]) : 1);
    more(p, 32);
    cudaMemcpy(start, p, sizeof(start), cudaMemcpyDeviceToHost);
    printf("%d %d\n", start[0], start[31]);
    cudaFree(p);
}
