// Bytes counted in 256 bins, and what is below each.
#include <cstdio>
#include <cstdlib>

static unsigned state = 12345;
static unsigned next() { return state = state * 1664525u + 1013904223u; }

int main(int argc, char **argv) {
    int rounds = argc > 1 ? atoi(argv[1]) : 1;
    const int n = 100000;
    unsigned char *data = (unsigned char *)malloc(n);
    unsigned bins[256];
    double total = 0;
    for (int i = 0; i < n; i++) data[i] = next() >> 24;
    for (int round = 0; round < rounds; round++) {
        for (int i = 0; i < 256; i++) bins[i] = 0;
        for (int i = 0; i < n; i++) bins[data[i]]++;
        unsigned below = 0;
        for (int i = 0; i < 256; i++) {
            below += bins[i];
            total += (double)below * i;
        }
        data[round % n] ^= round;
    }
    printf("%.9g\n", total);
    free(data);
    return 0;
}
