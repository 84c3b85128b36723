#include "shared.h"
#ifndef STEP
#define STEP 5
#endif
typedef float Value;
enum Mode { ON = 5, OFF };
struct Pair { Value a, b, c; __device__ Value sum() const { return a + b + c; } };
template <typename T> struct Box { T value, other; };
static const int width = 2;
static __constant__ int table[3];
__device__ static int used = 50;
static __device__ int pick(int x) { return x * STEP; }
static __device__ int alike(int x) { return pick(x) * 10; }
namespace { __device__ float hidden() { return 0.5f; } }
__device__ int count(int x) { return x + 200000; }
template <typename T> __global__ void blend(int *out, T value) {
    Size size = {3, 3};
    out[threadIdx.x] = alike(threadIdx.x) + table[2] + (int)(hidden() * 4) + ON + size.width * 1000 + (int)sizeof(value);
    if (threadIdx.x == 0) used += twice(1);
}
__global__ void other(int *out) { Pair p = {1, 2, 3}; out[threadIdx.x] = count(both(threadIdx.x)) + (int)p.sum(); }
static void show(const char *what, int *out, int n) { printf("%s: %d %d, %d\n", what, out[0], out[1], n); }
void smooth(int *out) {
    int values[3] = {1, 2, 3}, n;
    printf("%d\n", cudaMemcpyToSymbol(table, values, sizeof(values)));
    blend<<<1, width>>>(out, Box<double>{1, 2});
    cudaDeviceSynchronize();
    cudaMemcpyFromSymbol(&n, used, sizeof(n));
    show("smooth", out, n);
    other<<<1, width>>>(out);
    cudaDeviceSynchronize();
    show("other", out, width);
}
