// Ticket lock whose holder returns early on a bad item without passing the turn on; two items are bad, so one of the two waits for ever.
// sm_90: deadlock
// sm_35: deadlock
#include <stdio.h>

#define THREADS 32

__global__ void add_up(int *draw, volatile int *serving, const int *item, volatile int *sum) {
    int t = threadIdx.x;
    int ticket = atomicAdd(draw, 1);
    while (*serving != ticket) {
    }
    __threadfence();
    if (item[t] < 0) return;  // the bug: the lock is still held
    *sum = *sum + item[t];
    __threadfence();
    *serving = ticket + 1;
}

int main() {
    int item[THREADS], state[3] = {0, 0, 0}, want = 0;
    for (int i = 0; i < THREADS; i++) item[i] = 3 * i + 1;
    item[5] = -1;
    item[20] = -1;
    for (int i = 0; i < THREADS; i++)
        if (item[i] >= 0) want += item[i];
    int *di, *ds;
    cudaMalloc(&di, sizeof item);
    cudaMalloc(&ds, sizeof state);
    cudaMemcpy(di, item, sizeof item, cudaMemcpyHostToDevice);
    cudaMemcpy(ds, state, sizeof state, cudaMemcpyHostToDevice);
    add_up<<<1, THREADS>>>(ds, ds + 1, di, ds + 2);
    cudaDeviceSynchronize();
    cudaMemcpy(state, ds, sizeof state, cudaMemcpyDeviceToHost);
    printf("served %d sum %d\n", state[1], state[2]);
    cudaFree(di);
    cudaFree(ds);
    printf(state[2] == want ? "OK\n" : "WRONG\n");
    return 0;
}
