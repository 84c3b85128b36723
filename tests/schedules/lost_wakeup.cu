// Lost wake-up: the waiter looks for the result, then announces that it waits, and does not look again; the signaller wakes only those announced
// depends: yes
// needs: the signaller publishes and looks for a waiter between the waiter's look and its announcement, and then the program never ends (right in ascending order; in descending order block 1 waits for block 0, so run strictly to its end it never ends)
#include <stdio.h>

#define THREADS 32

__global__ void meet(const int *in, volatile int *result, volatile int *ready,
                     volatile int *waiting, volatile int *wake, int *out) {
    if (threadIdx.x != 0) return;
    if (blockIdx.x == 0) {
        int sum = 0;
        for (int i = 0; i < THREADS; i++) sum += in[i];
        *result = sum;
        __threadfence();
        *ready = 1;
        __threadfence();
        if (*waiting) *wake = 1;
    } else {
        if (*ready == 0) {
            *waiting = 1;
            __threadfence();
            while (*wake == 0) {
            }
        }
        __threadfence();
        *out = *result * 2;
    }
}

int main() {
    int in[THREADS], h[5] = {0, 0, 0, 0, 0}, want = 0;
    for (int i = 0; i < THREADS; i++) {
        in[i] = i * 3 + 2;
        want += in[i];
    }
    int *di, *d;
    cudaMalloc(&di, sizeof in);
    cudaMalloc(&d, sizeof h);
    cudaMemcpy(di, in, sizeof in, cudaMemcpyHostToDevice);
    cudaMemcpy(d, h, sizeof h, cudaMemcpyHostToDevice);
    meet<<<2, 32>>>(di, d, d + 1, d + 2, d + 3, d + 4);
    cudaDeviceSynchronize();
    cudaMemcpy(h, d, sizeof h, cudaMemcpyDeviceToHost);
    printf("result %d\n", h[4]);
    cudaFree(di);
    cudaFree(d);
    printf(h[4] == 2 * want ? "OK\n" : "WRONG\n");
    return 0;
}
