// Division of 64 bits: greatest common divisors, and powers modulo a prime.
#include <cstdint>
#include <cstdio>
#include <cstdlib>

static uint64_t gcd(uint64_t a, uint64_t b) {
    while (b) {
        uint64_t rest = a % b;
        a = b;
        b = rest;
    }
    return a;
}

static uint64_t power(uint64_t base, uint64_t exponent, uint64_t modulus) {
    uint64_t result = 1;
    for (base %= modulus; exponent; exponent >>= 1) {
        if (exponent & 1) result = result * base % modulus;
        base = base * base % modulus;
    }
    return result;
}

int main(int argc, char **argv) {
    int rounds = argc > 1 ? atoi(argv[1]) : 1;
    uint64_t total = 0, s = 99;
    for (int round = 0; round < rounds; round++)
        for (int i = 0; i < 1000; i++) {
            s = s * 6364136223846793005ull + 1442695040888963407ull;
            total += gcd(s >> 20, (s << 7 >> 20) + 1);
            total += power(s >> 33, s & 0xffff, 2147483647ull);
        }
    printf("%llu\n", (unsigned long long)total);
    return 0;
}
