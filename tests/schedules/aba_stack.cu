// Free-list as a lock-free stack of indices without a tag: a compare-and-swap succeeds on a head that went away and came back
// depends: yes
// replays: no (what differs is the order of the stack, which is not printed)
// needs: a block pops node x, pops its successor and pushes x back between another block's read of the head's successor and its compare-and-swap (ascending and descending to the end are both right)
#include <stdio.h>

#define NODES 64
#define BLOCKS 8
#define ROUNDS 3

__device__ int pop(int *head, volatile int *next) {
    int h, n;
    do {
        h = *(volatile int *)head;
        if (h < 0) return -1;
        n = next[h];
    } while (atomicCAS(head, h, n) != h);
    return h;
}

__device__ void push(int *head, volatile int *next, int x) {
    int h;
    do {
        h = *(volatile int *)head;
        next[x] = h;
        __threadfence();
    } while (atomicCAS(head, h, x) != h);
}

__global__ void use(int *head, int *next, int *kept) {
    if (threadIdx.x != 0) return;
    for (int r = 0; r < ROUNDS; r++) {
        int a = pop(head, next);
        int b = pop(head, next);
        if (a >= 0) push(head, next, a);
        if (b >= 0) atomicAdd(&kept[b], 1);
    }
}

int main() {
    int next[NODES], kept[NODES], head = 0;
    for (int i = 0; i < NODES; i++) {
        next[i] = i + 1 < NODES ? i + 1 : -1;
        kept[i] = 0;
    }
    int *dh, *dn, *dk;
    cudaMalloc(&dh, sizeof head);
    cudaMalloc(&dn, sizeof next);
    cudaMalloc(&dk, sizeof kept);
    cudaMemcpy(dh, &head, sizeof head, cudaMemcpyHostToDevice);
    cudaMemcpy(dn, next, sizeof next, cudaMemcpyHostToDevice);
    cudaMemcpy(dk, kept, sizeof kept, cudaMemcpyHostToDevice);
    use<<<BLOCKS, 32>>>(dh, dn, dk);
    cudaDeviceSynchronize();
    cudaMemcpy(&head, dh, sizeof head, cudaMemcpyDeviceToHost);
    cudaMemcpy(next, dn, sizeof next, cudaMemcpyDeviceToHost);
    cudaMemcpy(kept, dk, sizeof kept, cudaMemcpyDeviceToHost);
    int free_nodes = 0, held = 0, once = 1;
    for (int i = 0; i < NODES; i++) held += kept[i];
    for (int n = head; n >= 0 && free_nodes <= NODES; n = next[n]) {
        free_nodes++;
        kept[n]++;
    }
    for (int i = 0; i < NODES; i++)
        if (kept[i] != 1) once = 0;
    printf("free %d held %d each once %d\n", free_nodes, held, once);
    printf(once && held == BLOCKS * ROUNDS && free_nodes == NODES - held ? "OK\n" : "WRONG\n");
    return 0;
}
