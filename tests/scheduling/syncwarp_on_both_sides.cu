#include <stdio.h>
// Both sides of an if wait for the whole warp, at different lines, and read what the other side wrote before.
// sm_90: ends
// sm_35: invalid_mask
__global__ void k(int *out)
{
    __shared__ int a[32];
    int i = threadIdx.x;
    if (i < 16) {
        a[i] = i + 100;
        __syncwarp();
        out[i] = a[i + 16];
    } else {
        a[i] = i + 200;
        __syncwarp();
        out[i] = a[i - 16];
    }
}
int main()
{
    int *d, h[32], bad = 0;
    cudaMalloc(&d, sizeof h);
    k<<<1, 32>>>(d);
    cudaMemcpy(h, d, sizeof h, cudaMemcpyDeviceToHost);
    for (int i = 0; i < 32; i++)
        bad += h[i] != (i < 16 ? i + 216 : i + 84);
    printf("%s\n", bad ? "WRONG" : "OK");
    cudaFree(d);
    return 0;
}
