// The edit distance of two texts, with two rows of a table.
#include <cstdio>
#include <cstdlib>
#include <cstring>

static unsigned state = 4242;
static unsigned next() { return state = state * 1664525u + 1013904223u; }

static int least(int a, int b, int c) {
    int m = a < b ? a : b;
    return m < c ? m : c;
}

int main(int argc, char **argv) {
    int rounds = argc > 1 ? atoi(argv[1]) : 1;
    const int n = 200;
    char a[n + 1], b[n + 1];
    int above[n + 1], row[n + 1];
    long long total = 0;
    for (int round = 0; round < rounds; round++) {
        for (int i = 0; i < n; i++) {
            a[i] = 'a' + (next() >> 16) % 4;
            b[i] = 'a' + (next() >> 16) % 4;
        }
        for (int j = 0; j <= n; j++) above[j] = j;
        for (int i = 1; i <= n; i++) {
            row[0] = i;
            for (int j = 1; j <= n; j++)
                row[j] = least(above[j] + 1, row[j - 1] + 1, above[j - 1] + (a[i - 1] != b[j - 1]));
            memcpy(above, row, sizeof row);
        }
        total += above[n];
    }
    printf("%lld\n", total);
    return 0;
}
