// One block computes values and sets a flag for each, another waits for the flags and adds the values: no fence anywhere
// depends: yes
// memory: weak
// needs: a value is stored late, or loaded early (right in any order of blocks and warps)
#include <stdio.h>

#define N 8

__global__ void pass(volatile int *data, volatile int *flag, int *sum) {
    if (threadIdx.x != 0) return;
    if (blockIdx.x == 0) {
        for (int i = 0; i < N; i++) {
            data[i] = 3 * i + 1;
            flag[i] = 1;
        }
    } else {
        int all = 0;
        for (int i = 0; i < N; i++) {
            while (flag[i] == 0) {
            }
            all += data[i];
        }
        *sum = all;
    }
}

int main() {
    int h[2 * N + 1], want = 0;
    for (int i = 0; i < 2 * N + 1; i++) h[i] = 0;
    for (int i = 0; i < N; i++) want += 3 * i + 1;
    int *d;
    cudaMalloc(&d, sizeof h);
    cudaMemcpy(d, h, sizeof h, cudaMemcpyHostToDevice);
    pass<<<2, 32>>>(d, d + N, d + 2 * N);
    cudaMemcpy(h, d, sizeof h, cudaMemcpyDeviceToHost);
    printf("sum %d\n", h[2 * N]);
    cudaFree(d);
    printf(h[2 * N] == want ? "OK\n" : "WRONG\n");
    return 0;
}
