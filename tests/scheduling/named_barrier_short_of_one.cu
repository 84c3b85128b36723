#include <stdio.h>
// A named barrier waits for 96 threads, and 64 come.
// sm_90: deadlock
// sm_35: deadlock
__global__ void k(int *out)
{
    if (threadIdx.x < 64)
        asm volatile("bar.sync 3, 96;" ::: "memory"); //~ deadlock
    out[threadIdx.x] = 1;
}
int main()
{
    int *d, n = 0;
    cudaMalloc(&d, 96 * sizeof *d);
    k<<<1, 96>>>(d);
    cudaMemcpy(&n, d, sizeof n, cudaMemcpyDeviceToHost);
    printf("%s\n", n == 1 ? "OK" : "WRONG");
    cudaFree(d);
    return 0;
}
