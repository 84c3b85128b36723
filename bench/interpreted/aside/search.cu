// Binary search in a sorted array of 64-bit keys.
#include <cstdint>
#include <cstdio>
#include <cstdlib>

static unsigned state = 777;
static unsigned next() { return state = state * 1664525u + 1013904223u; }

static int find(const int64_t *keys, int n, int64_t key) {
    int low = 0, high = n;
    while (low < high) {
        int middle = low + (high - low) / 2;
        if (keys[middle] < key)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

int main(int argc, char **argv) {
    int rounds = argc > 1 ? atoi(argv[1]) : 1;
    const int n = 20000;
    int64_t *keys = (int64_t *)malloc(n * sizeof(int64_t));
    int64_t at = 0, total = 0;
    for (int i = 0; i < n; i++) keys[i] = at += 1 + (next() >> 28);
    for (int round = 0; round < rounds; round++)
        for (int i = 0; i < 2000; i++) total += find(keys, n, (int64_t)(next() >> 8) % at);
    printf("%lld\n", (long long)total);
    free(keys);
    return 0;
}
