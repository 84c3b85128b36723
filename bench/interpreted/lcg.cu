// Random numbers: a linear congruential generator and xorshift, 64 bits.
#include <cstdint>
#include <cstdio>
#include <cstdlib>

int main(int argc, char **argv) {
    int rounds = argc > 1 ? atoi(argv[1]) : 1;
    uint64_t s = 42, x = 88172645463325252ull, total = 0;
    for (int round = 0; round < rounds; round++)
        for (int i = 0; i < 100000; i++) {
            s = s * 6364136223846793005ull + 1442695040888963407ull;
            x ^= x << 13;
            x ^= x >> 7;
            x ^= x << 17;
            total += (s >> 33) ^ (x & 0xffff);
        }
    printf("%llu\n", (unsigned long long)total);
    return 0;
}
