// Five points of a grid of double, from one array to the other and back.
#include <cstdio>
#include <cstdlib>

static unsigned state = 12345;
static unsigned next() { return state = state * 1664525u + 1013904223u; }

int main(int argc, char **argv) {
    int rounds = argc > 1 ? atoi(argv[1]) : 1;
    const int n = 128;
    double *a = (double *)malloc(n * n * sizeof(double));
    double *b = (double *)malloc(n * n * sizeof(double));
    for (int i = 0; i < n * n; i++) a[i] = b[i] = next() % 10;
    for (int round = 0; round < rounds; round++) {
        for (int i = 1; i < n - 1; i++)
            for (int j = 1; j < n - 1; j++)
                b[i * n + j] =
                    0.2 * (a[i * n + j] + a[i * n + j - 1] + a[i * n + j + 1] + a[(i - 1) * n + j] + a[(i + 1) * n + j]);
        double *t = a;
        a = b;
        b = t;
    }
    double total = 0;
    for (int i = 0; i < n * n; i++) total += a[i];
    printf("%.9g\n", total);
    free(a);
    free(b);
    return 0;
}
