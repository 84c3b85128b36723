// Tricks with bits: count, reverse, interleave, the lowest and the highest.
#include <cstdint>
#include <cstdio>
#include <cstdlib>

static int count(uint32_t x) {
    int n = 0;
    while (x) {
        x &= x - 1;
        n++;
    }
    return n;
}

static uint32_t reverse(uint32_t x) {
    x = (x >> 1 & 0x55555555u) | (x & 0x55555555u) << 1;
    x = (x >> 2 & 0x33333333u) | (x & 0x33333333u) << 2;
    x = (x >> 4 & 0x0f0f0f0fu) | (x & 0x0f0f0f0fu) << 4;
    x = (x >> 8 & 0x00ff00ffu) | (x & 0x00ff00ffu) << 8;
    return x >> 16 | x << 16;
}

static uint64_t spread(uint32_t x) {
    uint64_t y = x;
    y = (y | y << 16) & 0x0000ffff0000ffffull;
    y = (y | y << 8) & 0x00ff00ff00ff00ffull;
    y = (y | y << 4) & 0x0f0f0f0f0f0f0f0full;
    y = (y | y << 2) & 0x3333333333333333ull;
    return (y | y << 1) & 0x5555555555555555ull;
}

int main(int argc, char **argv) {
    int rounds = argc > 1 ? atoi(argv[1]) : 1;
    uint64_t total = 0;
    uint32_t x = 1;
    for (int round = 0; round < rounds; round++)
        for (int i = 0; i < 10000; i++) {
            x = x * 22695477u + 1u;
            uint32_t low = x & (0u - x), r = reverse(x);
            total += count(x) + (spread(x ^ r) >> 7) + low;
            total ^= r;
        }
    printf("%llu\n", (unsigned long long)total);
    return 0;
}
