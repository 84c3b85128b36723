// Open-addressing hash set with many duplicate keys: which slot a key lands in depends on arrival, but the table is read only as a set
// depends: no
#include <stdio.h>

#define BLOCKS 8
#define THREADS 64
#define SLOTS 256
#define RANGE 180

__host__ __device__ int key_at(int i) { return (i * i * 3 + i * 7) % RANGE; }
__host__ __device__ unsigned mix(unsigned k) {
    k = (k ^ 61u) * 2654435761u;
    return k ^ (k >> 15);
}

__global__ void insert(int *table) {
    int key = key_at(blockIdx.x * THREADS + threadIdx.x);
    int s = (int)(mix(key) % 64u);  // crowded on purpose: long probes
    for (;;) {
        int old = atomicCAS(&table[s], -1, key);
        if (old == -1 || old == key) break;
        s = (s + 1) % SLOTS;
    }
}

__global__ void digest(const int *table, unsigned *out) {
    int key = table[threadIdx.x];
    if (key >= 0) {
        atomicAdd(&out[0], 1u);
        atomicAdd(&out[1], mix(key));
        atomicXor(&out[2], mix(key * 17 + 1));
    }
}

int main() {
    int table[SLOTS], seen[RANGE];
    unsigned out[3] = {0, 0, 0}, want[3] = {0, 0, 0};
    for (int s = 0; s < SLOTS; s++) table[s] = -1;
    for (int k = 0; k < RANGE; k++) seen[k] = 0;
    for (int i = 0; i < BLOCKS * THREADS; i++) seen[key_at(i)] = 1;
    for (int k = 0; k < RANGE; k++)
        if (seen[k]) {
            want[0]++;
            want[1] += mix(k);
            want[2] ^= mix(k * 17 + 1);
        }
    int *dt;
    unsigned *dout;
    cudaMalloc(&dt, sizeof table);
    cudaMalloc(&dout, sizeof out);
    cudaMemcpy(dt, table, sizeof table, cudaMemcpyHostToDevice);
    cudaMemcpy(dout, out, sizeof out, cudaMemcpyHostToDevice);
    insert<<<BLOCKS, THREADS>>>(dt);
    digest<<<1, SLOTS>>>(dt, dout);
    cudaDeviceSynchronize();
    cudaMemcpy(out, dout, sizeof out, cudaMemcpyDeviceToHost);
    printf("keys %u sum %u xor %u\n", out[0], out[1], out[2]);
    printf(out[0] == want[0] && out[1] == want[1] && out[2] == want[2] ? "OK\n" : "WRONG\n");
    return 0;
}
