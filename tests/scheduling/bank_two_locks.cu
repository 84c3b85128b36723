// Bank transfers between two accounts, each with its own lock, the two locks always taken lower account first.
// sm_90: ends
// sm_35: deadlock
#include <stdio.h>

#define ACCOUNTS 16
#define THREADS 64
#define ROUNDS 6

__host__ __device__ void plan(int t, int r, int *from, int *to, int *amount) {
    *from = (t * 7 + r * 3) % ACCOUNTS;
    *to = (*from + 1 + (t + r) % (ACCOUNTS - 1)) % ACCOUNTS;
    *amount = 1 + (t + 2 * r) % 5;
}

__device__ void acquire(int *lock) {
    while (atomicCAS(lock, 0, 1) != 0) {
    }
    __threadfence();
}

__device__ void release(int *lock) {
    __threadfence();
    atomicExch(lock, 0);
}

__global__ void transfer(int *lock, volatile int *balance) {
    for (int r = 0; r < ROUNDS; r++) {
        int from, to, amount;
        plan(threadIdx.x, r, &from, &to, &amount);
        int lo = from < to ? from : to;
        int hi = from < to ? to : from;
        acquire(&lock[lo]);
        acquire(&lock[hi]);
        balance[from] = balance[from] - amount;
        balance[to] = balance[to] + amount;
        release(&lock[hi]);
        release(&lock[lo]);
    }
}

int main() {
    int lock[ACCOUNTS], balance[ACCOUNTS], want[ACCOUNTS];
    for (int i = 0; i < ACCOUNTS; i++) {
        lock[i] = 0;
        balance[i] = want[i] = 1000 + i;
    }
    int *dl, *db;
    cudaMalloc(&dl, sizeof lock);
    cudaMalloc(&db, sizeof balance);
    cudaMemcpy(dl, lock, sizeof lock, cudaMemcpyHostToDevice);
    cudaMemcpy(db, balance, sizeof balance, cudaMemcpyHostToDevice);
    transfer<<<1, THREADS>>>(dl, db);
    cudaDeviceSynchronize();
    cudaMemcpy(lock, dl, sizeof lock, cudaMemcpyDeviceToHost);
    cudaMemcpy(balance, db, sizeof balance, cudaMemcpyDeviceToHost);
    for (int t = 0; t < THREADS; t++)
        for (int r = 0; r < ROUNDS; r++) {
            int from, to, amount;
            plan(t, r, &from, &to, &amount);
            want[from] -= amount;
            want[to] += amount;
        }
    int ok = 1;
    for (int i = 0; i < ACCOUNTS; i++)
        if (lock[i] != 0 || balance[i] != want[i]) ok = 0;
    cudaFree(dl);
    cudaFree(db);
    printf(ok ? "OK\n" : "WRONG\n");
    return 0;
}
