#include <cstdio>
__global__ void set(int *p) { *p = 5; }
int main()
{
    int *p, value = 0;
    cudaError_t error = cudaMalloc(&p, sizeof(int));
    set<<<1, 1>>>(p);
    cudaMemcpy(&value, p, sizeof value, cudaMemcpyDeviceToHost);
    printf("%d, %s\n", value, cudaGetErrorString(error));
    cudaFree(p);
}
