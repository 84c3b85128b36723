// A binary heap in a vector: numbers go in, the smallest come out.
#include <cstdio>
#include <cstdlib>
#include <vector>

static unsigned state = 31337;
static unsigned next() { return state = state * 1664525u + 1013904223u; }

static void push(std::vector<unsigned> &heap, unsigned x) {
    heap.push_back(x);
    size_t at = heap.size() - 1;
    while (at > 0 && heap[(at - 1) / 2] > heap[at]) {
        unsigned t = heap[at];
        heap[at] = heap[(at - 1) / 2];
        heap[(at - 1) / 2] = t;
        at = (at - 1) / 2;
    }
}

static unsigned pop(std::vector<unsigned> &heap) {
    unsigned top = heap[0], last = heap.back();
    heap.pop_back();
    size_t at = 0, n = heap.size();
    if (n == 0) return top;
    for (;;) {
        size_t child = 2 * at + 1;
        if (child >= n) break;
        if (child + 1 < n && heap[child + 1] < heap[child]) child++;
        if (heap[child] >= last) break;
        heap[at] = heap[child];
        at = child;
    }
    heap[at] = last;
    return top;
}

int main(int argc, char **argv) {
    int rounds = argc > 1 ? atoi(argv[1]) : 1;
    std::vector<unsigned> heap;
    unsigned total = 0;
    for (int round = 0; round < rounds; round++) {
        for (int i = 0; i < 2000; i++) push(heap, next() >> 3);
        for (int i = 0; i < 2000; i++) total = total * 31 + pop(heap);
    }
    printf("%u\n", total);
    return 0;
}
