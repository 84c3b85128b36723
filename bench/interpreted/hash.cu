// A table with open addressing: keys are put in, counted and looked up; beside it FNV-1a over the bytes of the keys.
#include <cstdint>
#include <cstdio>
#include <cstdlib>

static unsigned state = 12345;
static unsigned next() { return state = state * 1664525u + 1013904223u; }

static uint64_t fnv(const unsigned char *bytes, int n) {
    uint64_t h = 14695981039346656037ull;
    for (int i = 0; i < n; i++) h = (h ^ bytes[i]) * 1099511628211ull;
    return h;
}

int main(int argc, char **argv) {
    int rounds = argc > 1 ? atoi(argv[1]) : 1;
    const int slots = 1 << 14;
    uint32_t *keys = (uint32_t *)malloc(slots * sizeof(uint32_t));
    int *counts = (int *)malloc(slots * sizeof(int));
    uint64_t total = 0;
    for (int round = 0; round < rounds; round++) {
        for (int i = 0; i < slots; i++) {
            keys[i] = 0;
            counts[i] = 0;
        }
        for (int i = 0; i < 30000; i++) {
            uint32_t key = 1 + next() / 7 % 9000;
            uint64_t h = fnv((const unsigned char *)&key, sizeof key);
            int at = (int)(h & (slots - 1));
            while (keys[at] != 0 && keys[at] != key) at = (at + 1) & (slots - 1);
            keys[at] = key;
            counts[at]++;
        }
        for (int i = 0; i < slots; i++)
            if (keys[i]) total = total * 31 + keys[i] * (uint64_t)counts[i];
    }
    printf("%llu\n", (unsigned long long)total);
    free(keys);
    free(counts);
    return 0;
}
