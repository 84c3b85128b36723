// The sieve of Eratosthenes.
#include <cstdio>
#include <cstdlib>

int main(int argc, char **argv) {
    int rounds = argc > 1 ? atoi(argv[1]) : 1;
    const int n = 200000;
    char *composite = (char *)malloc(n + 64);
    long long total = 0;
    for (int round = 0; round < rounds; round++) {
        int limit = n + round % 64 - 1, primes = 0;
        for (int i = 0; i <= limit; i++) composite[i] = 0;
        for (int i = 2; i <= limit; i++) {
            if (composite[i]) continue;
            primes++;
            for (long long j = (long long)i * i; j <= limit; j += i) composite[j] = 1;
        }
        total += primes;
    }
    printf("%lld\n", total);
    free(composite);
    return 0;
}
