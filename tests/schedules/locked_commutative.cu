// Several fields (product modulo a prime, maximum, sum, count) updated together under a spin lock; every update commutes
// depends: no
#include <stdio.h>

#define BLOCKS 4
#define THREADS 32
#define PRIME 10007

struct Stats {
    int lock;
    int product;
    int max;
    int sum;
    int count;
};

__host__ __device__ int sample(int i) { return (i * 733 + 19) % 997 + 2; }

__global__ void gather(Stats *stats) {
    volatile Stats *s = stats;
    int x = sample(blockIdx.x * THREADS + threadIdx.x);
    bool done = false;
    while (!done) {
        if (atomicCAS(&stats->lock, 0, 1) == 0) {
            __threadfence();
            s->product = s->product * x % PRIME;
            if (x > s->max) s->max = x;
            s->sum = s->sum + x;
            s->count = s->count + 1;
            __threadfence();
            atomicExch(&stats->lock, 0);
            done = true;
        }
    }
}

int main() {
    Stats h = {0, 1, 0, 0, 0};
    int product = 1, max = 0, sum = 0;
    for (int i = 0; i < BLOCKS * THREADS; i++) {
        int x = sample(i);
        product = product * x % PRIME;
        if (x > max) max = x;
        sum += x;
    }
    Stats *d;
    cudaMalloc(&d, sizeof h);
    cudaMemcpy(d, &h, sizeof h, cudaMemcpyHostToDevice);
    gather<<<BLOCKS, THREADS>>>(d);
    cudaDeviceSynchronize();
    cudaMemcpy(&h, d, sizeof h, cudaMemcpyDeviceToHost);
    printf("product %d max %d sum %d count %d\n", h.product, h.max, h.sum, h.count);
    cudaFree(d);
    printf(h.lock == 0 && h.product == product && h.max == max && h.sum == sum &&
                   h.count == BLOCKS * THREADS
               ? "OK\n"
               : "WRONG\n");
    return 0;
}
