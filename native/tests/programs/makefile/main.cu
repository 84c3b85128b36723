#include "kernels.h"
#include <stdio.h>
#include <vector>
int main(int argc, char *argv[]) {
    const int n = 64;
    std::vector<float> a(n * n), b(n * n), c(n * n);
    for (int i = 0; i < n * n; i++) a[i] = i % 7, b[i] = i % 5;
    double before = seconds();
    multiply(a.data(), b.data(), c.data(), n);
    int wrong = 0;
    for (int i = 0; i < n; i++)
        for (int j = 0; j < n; j++) {
            float sum = 0;
            for (int k = 0; k < n; k++) sum += a[i * n + k] * b[k * n + j];
            wrong += sum != c[i * n + j];
        }
    printf("%s %d %s\n", argc > 0 ? "ran" : "", wrong, seconds() >= before ? "Test PASSED" : "Test FAILED");
    return wrong != 0;
}
