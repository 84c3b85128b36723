// A product of two matrices of float, the plain three loops.
#include <cstdio>
#include <cstdlib>

static unsigned state = 12345;
static unsigned next() { return state = state * 1664525u + 1013904223u; }

int main(int argc, char **argv) {
    int rounds = argc > 1 ? atoi(argv[1]) : 1;
    const int n = 96;
    float *a = (float *)malloc(n * n * sizeof(float));
    float *b = (float *)malloc(n * n * sizeof(float));
    float *c = (float *)malloc(n * n * sizeof(float));
    double total = 0;
    for (int round = 0; round < rounds; round++) {
        for (int i = 0; i < n * n; i++) {
            a[i] = next() % 7;
            b[i] = next() % 5;
        }
        for (int i = 0; i < n; i++)
            for (int j = 0; j < n; j++) {
                float sum = 0;
                for (int k = 0; k < n; k++) sum += a[i * n + k] * b[k * n + j];
                c[i * n + j] = sum;
            }
        for (int i = 0; i < n * n; i++) total += c[i];
    }
    printf("%.6g\n", total);
    free(a);
    free(b);
    free(c);
    return 0;
}
