// Reader-writer lock shared by the lanes of a warp: every eighth lane writes a pair, the others read it and look for a torn pair.
// sm_90: ends
// sm_35: deadlock
#include <stdio.h>

#define THREADS 64
#define ROUNDS 4

// state: number of readers inside, or -1 while a writer is inside
__global__ void share(int *state, volatile int *pair, int *torn, int *reads) {
    bool writer = threadIdx.x % 8 == 0;
    for (int r = 0; r < ROUNDS; r++) {
        if (writer) {
            while (atomicCAS(state, 0, -1) != 0) {
            }
            __threadfence();
            int a = pair[0];
            pair[0] = a + 1;
            pair[1] = 2 * (a + 1);
            __threadfence();
            atomicExch(state, 0);
        } else {
            for (;;) {
                int s = *(volatile int *)state;
                if (s >= 0 && atomicCAS(state, s, s + 1) == s) break;
            }
            __threadfence();
            int a = pair[0];
            int b = pair[1];
            if (b != 2 * a) atomicAdd(torn, 1);
            atomicAdd(reads, 1);
            __threadfence();
            atomicSub(state, 1);
        }
    }
}

int main() {
    int h[5] = {0, 0, 0, 0, 0};
    int *d;
    cudaMalloc(&d, sizeof h);
    cudaMemcpy(d, h, sizeof h, cudaMemcpyHostToDevice);
    share<<<1, THREADS>>>(d, d + 1, d + 3, d + 4);
    cudaDeviceSynchronize();
    cudaMemcpy(h, d, sizeof h, cudaMemcpyDeviceToHost);
    int writes = THREADS / 8 * ROUNDS;
    int reads = THREADS * ROUNDS - writes;
    printf("state %d pair %d %d torn %d reads %d\n", h[0], h[1], h[2], h[3], h[4]);
    cudaFree(d);
    printf(h[0] == 0 && h[1] == writes && h[2] == 2 * writes && h[3] == 0 && h[4] == reads ? "OK\n" : "WRONG\n");
    return 0;
}
