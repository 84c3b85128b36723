// Records are dropped into whatever slot their ticket names; a second kernel ranks them by their unique key, which undoes the arrival order
// depends: no
#include <stdio.h>

#define BLOCKS 4
#define THREADS 64
#define N (BLOCKS * THREADS)

struct Record {
    int key;
    int value;
};

__global__ void drop(int *ticket, Record *slot) {
    int i = blockIdx.x * THREADS + threadIdx.x;
    Record r;
    r.key = (i * 149 + 31) % N;
    r.value = i * i % 509;
    int where = atomicAdd(ticket, 1);
    slot[where] = r;
}

__global__ void rank_sort(const Record *slot, int *sorted) {
    int i = blockIdx.x * THREADS + threadIdx.x;
    Record r = slot[i];
    int rank = 0;
    for (int k = 0; k < N; k++)
        if (slot[k].key < r.key) rank++;
    sorted[rank] = r.value;
}

int main() {
    static Record slot[N];
    static int sorted[N], want[N];
    int ticket = 0, ok = 1;
    for (int i = 0; i < N; i++) {
        slot[i].key = slot[i].value = -1;
        sorted[i] = -1;
        want[(i * 149 + 31) % N] = i * i % 509;
    }
    int *dt, *dsorted;
    Record *ds;
    cudaMalloc(&dt, sizeof ticket);
    cudaMalloc(&ds, sizeof slot);
    cudaMalloc(&dsorted, sizeof sorted);
    cudaMemcpy(dt, &ticket, sizeof ticket, cudaMemcpyHostToDevice);
    cudaMemcpy(ds, slot, sizeof slot, cudaMemcpyHostToDevice);
    cudaMemcpy(dsorted, sorted, sizeof sorted, cudaMemcpyHostToDevice);
    drop<<<BLOCKS, THREADS>>>(dt, ds);
    rank_sort<<<BLOCKS, THREADS>>>(ds, dsorted);
    cudaDeviceSynchronize();
    cudaMemcpy(sorted, dsorted, sizeof sorted, cudaMemcpyDeviceToHost);
    unsigned sum = 0;
    for (int i = 0; i < N; i++) {
        sum = sum * 37u + (unsigned)sorted[i];
        if (sorted[i] != want[i]) ok = 0;
    }
    printf("checksum %u\n", sum);
    printf(ok ? "OK\n" : "WRONG\n");
    return 0;
}
