// Polynomials in double by Horner's rule, and Newton's steps to a root.
#include <cstdio>
#include <cstdlib>

int main(int argc, char **argv) {
    int rounds = argc > 1 ? atoi(argv[1]) : 1;
    const int degree = 12;
    double c[degree + 1];
    for (int k = 0; k <= degree; k++) c[k] = 1.0 / (k + 1);
    double total = 0;
    for (int round = 0; round < rounds; round++)
        for (int i = 0; i < 2000; i++) {
            double x = (i - 1000) * 0.001 + round * 1e-6;
            for (int step = 0; step < 2; step++) {
                double p = c[degree], d = 0;
                for (int k = degree - 1; k >= 0; k--) {
                    d = d * x + p;
                    p = p * x + c[k];
                }
                x -= p / (d + 3.0);
            }
            total += x;
        }
    printf("%.9g\n", total);
    return 0;
}
