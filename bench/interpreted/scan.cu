// Running sums in a vector.
#include <cstdio>
#include <cstdlib>
#include <vector>

int main(int argc, char **argv) {
    int rounds = argc > 1 ? atoi(argv[1]) : 1;
    std::vector<long long> v(20000);
    unsigned state = 12345;
    for (size_t i = 0; i < v.size(); i++) {
        state = state * 1664525u + 1013904223u;
        v[i] = state % 100;
    }
    for (int round = 0; round < rounds; round++) {
        for (size_t i = 1; i < v.size(); i++) v[i] = (v[i] + v[i - 1]) & 0xffff;
        v[0] = v.back() + round;
    }
    unsigned long long total = 0;
    for (size_t i = 0; i < v.size(); i++) total = total * 3 + v[i];
    printf("%llu\n", total);
    return 0;
}
