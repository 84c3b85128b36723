#include <stdio.h>
// Lane 0 waits in a loop until all other lanes have counted; they come after the loop in the text.
// sm_90: ends
// sm_35: deadlock
__global__ void k(int *out)
{
    __shared__ int arrived;
    if (threadIdx.x == 0)
        arrived = 0;
    __syncwarp();
    if (threadIdx.x == 0)
        while (atomicAdd(&arrived, 0) != 31)
            ;
    if (threadIdx.x != 0)
        atomicAdd(&arrived, 1);
    __syncwarp();
    if (threadIdx.x == 0)
        *out = arrived;
}
int main()
{
    int *d, n = 0;
    cudaMalloc(&d, sizeof *d);
    k<<<1, 32>>>(d);
    cudaMemcpy(&n, d, sizeof n, cudaMemcpyDeviceToHost);
    printf("%s\n", n == 31 ? "OK" : "WRONG");
    cudaFree(d);
    return 0;
}
