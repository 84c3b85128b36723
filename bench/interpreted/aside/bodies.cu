// Bodies that attract one another, three dimensions, with square roots.
#include <cmath>
#include <cstdio>
#include <cstdlib>

struct Body {
    double x[3], v[3], mass;
};

int main(int argc, char **argv) {
    int rounds = argc > 1 ? atoi(argv[1]) : 1;
    const int n = 8;
    Body b[n];
    for (int i = 0; i < n; i++) {
        for (int k = 0; k < 3; k++) {
            b[i].x[k] = (i * 7 + k * 3) % 11;
            b[i].v[k] = 0.1 * k - 0.05 * i;
        }
        b[i].mass = 1 + i % 3;
    }
    for (int round = 0; round < rounds; round++) {
        for (int i = 0; i < n; i++)
            for (int j = i + 1; j < n; j++) {
                double d[3], square = 0.01;
                for (int k = 0; k < 3; k++) {
                    d[k] = b[i].x[k] - b[j].x[k];
                    square += d[k] * d[k];
                }
                double pull = 0.001 / (square * sqrt(square));
                for (int k = 0; k < 3; k++) {
                    b[i].v[k] -= d[k] * b[j].mass * pull;
                    b[j].v[k] += d[k] * b[i].mass * pull;
                }
            }
        for (int i = 0; i < n; i++)
            for (int k = 0; k < 3; k++) b[i].x[k] += 0.001 * b[i].v[k];
    }
    double total = 0;
    for (int i = 0; i < n; i++) total += b[i].x[0] + b[i].x[1] * 2 + b[i].x[2] * 3;
    printf("%.9g\n", total);
    return 0;
}
