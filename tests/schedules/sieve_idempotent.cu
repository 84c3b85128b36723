// Sieve in which many threads cross out the same numbers with atomicOr, and skip work by a racy look at bits others may be setting
// depends: no
#include <stdio.h>

#define LIMIT 800
#define WORDS (LIMIT / 32)

__global__ void cross_out(unsigned *bits, int *skipped) {
    int p = blockIdx.x * blockDim.x + threadIdx.x;
    if (p < 2 || p * p >= LIMIT) return;
    // p known to be composite already: its prime factor crosses out all its multiples, now or later
    unsigned word = *(volatile unsigned *)&bits[p / 32];
    if (word & (1u << (p % 32))) {
        atomicAdd(skipped, 1);  // this count depends on the order; it is not looked at
        return;
    }
    for (int m = p * p; m < LIMIT; m += p) atomicOr(&bits[m / 32], 1u << (m % 32));
}

int main() {
    unsigned bits[WORDS], sum = 0;
    int skipped = 0, ok = 1, primes = 0;
    for (int w = 0; w < WORDS; w++) bits[w] = 0;
    unsigned *db;
    int *ds;
    cudaMalloc(&db, sizeof bits);
    cudaMalloc(&ds, sizeof skipped);
    cudaMemcpy(db, bits, sizeof bits, cudaMemcpyHostToDevice);
    cudaMemcpy(ds, &skipped, sizeof skipped, cudaMemcpyHostToDevice);
    cross_out<<<4, 8>>>(db, ds);
    cudaDeviceSynchronize();
    cudaMemcpy(bits, db, sizeof bits, cudaMemcpyDeviceToHost);
    for (int n = 2; n < LIMIT; n++) {
        int composite = 0;
        for (int d = 2; d * d <= n; d++)
            if (n % d == 0) composite = 1;
        int marked = (bits[n / 32] >> (n % 32)) & 1u;
        if (marked != composite) ok = 0;
        if (!marked) {
            primes++;
            sum = sum * 7u + (unsigned)n;
        }
    }
    printf("primes %d checksum %u\n", primes, sum);
    cudaFree(db);
    cudaFree(ds);
    printf(ok ? "OK\n" : "WRONG\n");
    return 0;
}
