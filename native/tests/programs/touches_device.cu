// The host writes through a device pointer: a sentence names the allocation, and the process ends as it does on hardware.
#include <cstdio>
int main() {
    float *values;
    cudaMalloc(&values, 64 * sizeof(float));
    printf("before\n");
    fflush(stdout);
    values[3] = 1.0f;
    printf("never\n");
}
