// Sorted linked list with a lock in every node; each lane inserts one key, locking hand over hand from the head.
// sm_90: ends
// sm_35: deadlock
#include <stdio.h>

#define KEYS 64
#define HEAD KEYS
#define TAIL (KEYS + 1)
#define NODES (KEYS + 2)

struct Node {
    int key;
    int next;
    int lock;
};

__device__ void lock_node(Node *list, int n) {
    while (atomicCAS(&list[n].lock, 0, 1) != 0) {
    }
    __threadfence();
}

__device__ void unlock_node(Node *list, int n) {
    __threadfence();
    atomicExch(&list[n].lock, 0);
}

__global__ void insert(Node *list) {
    volatile Node *v = list;
    int me = threadIdx.x;
    int key = v[me].key;
    int pred = HEAD;
    lock_node(list, pred);
    int cur = v[pred].next;
    lock_node(list, cur);
    while (v[cur].key < key) {
        int after = v[cur].next;
        unlock_node(list, pred);
        pred = cur;
        cur = after;
        lock_node(list, cur);
    }
    v[me].next = cur;
    __threadfence();
    v[pred].next = me;
    unlock_node(list, cur);
    unlock_node(list, pred);
}

int main() {
    Node h[NODES];
    for (int i = 0; i < KEYS; i++) {
        h[i].key = (i * 37 + 11) % KEYS;
        h[i].next = -1;
        h[i].lock = 0;
    }
    h[HEAD].key = -1;
    h[HEAD].next = TAIL;
    h[HEAD].lock = 0;
    h[TAIL].key = 1 << 30;
    h[TAIL].next = -1;
    h[TAIL].lock = 0;
    Node *d;
    cudaMalloc(&d, sizeof h);
    cudaMemcpy(d, h, sizeof h, cudaMemcpyHostToDevice);
    insert<<<1, KEYS>>>(d);
    cudaDeviceSynchronize();
    cudaMemcpy(h, d, sizeof h, cudaMemcpyDeviceToHost);
    int ok = 1, want = 0;
    for (int n = h[HEAD].next; n >= 0 && n < KEYS && want < KEYS; n = h[n].next) {
        if (h[n].key != want) ok = 0;
        want++;
    }
    for (int i = 0; i < NODES; i++)
        if (h[i].lock != 0) ok = 0;
    printf("%d keys in the list\n", want);
    cudaFree(d);
    printf(ok && want == KEYS ? "OK\n" : "WRONG\n");
    return 0;
}
