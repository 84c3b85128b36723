#include <stdio.h>
// Half of the warp waits at __syncwarp for lanes that wait at the block's barrier.
// sm_90: deadlock
// sm_35: invalid_mask
__global__ void k(int *out)
{
    if (threadIdx.x < 16)
        __syncwarp(); //~ invalid_mask
    __syncthreads();
    out[threadIdx.x] = 1;
}
int main()
{
    int *d, h[32], n = 0;
    cudaMalloc(&d, sizeof h);
    k<<<1, 32>>>(d);
    cudaMemcpy(h, d, sizeof h, cudaMemcpyDeviceToHost);
    for (int i = 0; i < 32; i++)
        n += h[i];
    printf("%s\n", n == 32 ? "OK" : "WRONG");
    cudaFree(d);
    return 0;
}
