// Hash map in which the first insertion of a key decides its value, while two blocks insert the same keys with different values
// depends: yes
// needs: a warp of the second half of the grid inserts a key before the first half's warp with the same key (right in ascending order, wrong in descending)
#include <stdio.h>

#define BLOCKS 4
#define THREADS 64
#define N (BLOCKS * THREADS)
#define KEYS (N / 2)
#define SLOTS 256

__host__ __device__ int slot_of(int key) { return (key * 77 + 13) % SLOTS; }

__global__ void insert(int *keys, volatile int *vals) {
    int i = blockIdx.x * THREADS + threadIdx.x;
    int key = i % KEYS;       // each key once per half of the grid
    int val = 1000 * (i / KEYS) + key;
    int s = slot_of(key);
    for (int probe = 0; probe < SLOTS; probe++) {
        int k = atomicCAS(&keys[s], -1, key);
        if (k == -1) {
            vals[s] = val;
            break;
        }
        if (k == key) break;  // already there: the first value stays
        s = (s + 1) % SLOTS;
    }
}

int main() {
    int keys[SLOTS], vals[SLOTS], ok = 1;
    for (int s = 0; s < SLOTS; s++) {
        keys[s] = -1;
        vals[s] = 0;
    }
    int *dk, *dv;
    cudaMalloc(&dk, sizeof keys);
    cudaMalloc(&dv, sizeof vals);
    cudaMemcpy(dk, keys, sizeof keys, cudaMemcpyHostToDevice);
    cudaMemcpy(dv, vals, sizeof vals, cudaMemcpyHostToDevice);
    insert<<<BLOCKS, THREADS>>>(dk, dv);
    cudaDeviceSynchronize();
    cudaMemcpy(keys, dk, sizeof keys, cudaMemcpyDeviceToHost);
    cudaMemcpy(vals, dv, sizeof vals, cudaMemcpyDeviceToHost);
    unsigned sum = 0;
    for (int key = 0; key < KEYS; key++) {
        int s = slot_of(key), found = -1;
        for (int probe = 0; probe < SLOTS && keys[s] != -1; probe++, s = (s + 1) % SLOTS)
            if (keys[s] == key) {
                found = vals[s];
                break;
            }
        if (found != key) ok = 0;  // the value of the first half
        sum += (unsigned)found * (unsigned)(key + 1);
    }
    printf("checksum %u\n", sum);
    printf(ok ? "OK\n" : "WRONG\n");
    return 0;
}
