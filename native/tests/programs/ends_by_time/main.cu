#include <cstdio>
#include <cstring>
#include <unistd.h>

__global__ void endless(volatile int *p)
{
    while (*p == 0) atomicAdd((int *)p + 1, 1);
}

__global__ void strided(int *p)
{
    __shared__ int s[128];
    s[threadIdx.x * 4] = threadIdx.x;
    __syncthreads();
    p[threadIdx.x] = s[threadIdx.x * 4];
}

int main(int, char **argv)
{
    int *p;
    cudaMalloc(&p, 32 * sizeof(int));
    cudaMemset(p, 0, 32 * sizeof(int));
    strided<<<1, 32>>>(p);
    cudaDeviceSynchronize();
    printf("began\n");
    if (strcmp(argv[1], "kernel") == 0) {
        cudaMemset(p, 0, 32 * sizeof(int));
        endless<<<1, 1>>>(p);
        printf("never here\n");
    }
    if (strcmp(argv[1], "host") == 0)
        for (;;) usleep(1000);
}
