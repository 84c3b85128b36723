// A balance is read with one atomic and stored with another, so an update that falls between the two is lost
// depends: yes
// needs: another block's read and store between the read and the store of one block's round (ascending and descending to the end are both right)
#include <stdio.h>

#define BLOCKS 8
#define ROUNDS 4

__global__ void deposit(int *balance, const int *amount) {
    if (threadIdx.x != 0) return;
    for (int r = 0; r < ROUNDS; r++) {
        int seen = atomicAdd(balance, 0);  // an atomic read
        int next = seen + amount[blockIdx.x * ROUNDS + r];
        atomicExch(balance, next);         // an atomic store
    }
}

int main() {
    int amount[BLOCKS * ROUNDS], want = 100, got = 100;
    for (int i = 0; i < BLOCKS * ROUNDS; i++) {
        amount[i] = 1 + (i * 17) % 23;
        want += amount[i];
    }
    int *da, *db;
    cudaMalloc(&da, sizeof amount);
    cudaMalloc(&db, sizeof got);
    cudaMemcpy(da, amount, sizeof amount, cudaMemcpyHostToDevice);
    cudaMemcpy(db, &got, sizeof got, cudaMemcpyHostToDevice);
    deposit<<<BLOCKS, 32>>>(db, da);
    cudaDeviceSynchronize();
    cudaMemcpy(&got, db, sizeof got, cudaMemcpyDeviceToHost);
    printf("balance %d\n", got);
    cudaFree(da);
    cudaFree(db);
    printf(got == want ? "OK\n" : "WRONG\n");
    return 0;
}
