#include <stdio.h>
// One warp produces, one consumes: two named barriers say "full" and "empty".
// sm_90: ends
// sm_35: ends
__global__ void k(int *out)
{
    __shared__ int box[32];
    int lane = threadIdx.x % 32;
    if (threadIdx.x < 32) {
        for (int round = 0; round < 5; round++) {
            asm volatile("bar.sync 2, 64;" ::: "memory");
            box[lane] = round * 100 + lane;
            asm volatile("bar.arrive 1, 64;" ::: "memory");
        }
    } else {
        int sum = 0;
        asm volatile("bar.arrive 2, 64;" ::: "memory");
        for (int round = 0; round < 5; round++) {
            asm volatile("bar.sync 1, 64;" ::: "memory");
            sum += box[31 - lane];
            if (round < 4)
                asm volatile("bar.arrive 2, 64;" ::: "memory");
        }
        out[lane] = sum;
    }
}
int main()
{
    int *d, h[32], bad = 0;
    cudaMalloc(&d, sizeof h);
    k<<<1, 64>>>(d);
    cudaMemcpy(h, d, sizeof h, cudaMemcpyDeviceToHost);
    for (int i = 0; i < 32; i++)
        bad += h[i] != 1000 + 5 * (31 - i);
    printf("%s\n", bad ? "WRONG" : "OK");
    cudaFree(d);
    return 0;
}
