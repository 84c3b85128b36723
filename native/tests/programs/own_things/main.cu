#include "shared.h"
#define STEP 3
#define SHIFT(x) ((x) + 1)
typedef int Value;
enum Mode { OFF, ON };
struct Pair { Value a, b; __device__ Value sum() const { return a + b; } };
template <typename T> struct Box { T value; };
static const int width = 4;
static __constant__ int table[2];
__device__ static int used = 0;
static __device__ int pick(int x) { return x + STEP; }
static __device__ int alike(int x) { return pick(x) * 10; }
namespace { __device__ int hidden() { return 7; } }
static int count(int x) { return x; }
__device__ int both(int x) { return x * 100 + pick(0); }
template <typename T> __global__ void fill(int *out, T value) {
    Size size = {2, 2};
    out[threadIdx.x] = alike(threadIdx.x) + table[1] + hidden() + SHIFT(ON) + size.width * 1000 + (int)sizeof(value);
    atomicAdd(&used, 1);
}
static void show(const char *what, const int *out) { printf("%s: %d %d\n", what, out[0], out[1]); }
int main() {
    int *out, values[2] = {10, 20}, n = -1;
    cudaMallocManaged(&out, 16 * sizeof(int));
    printf("%d\n", cudaMemcpyToSymbol(table, values, sizeof(values)));
    fill<<<1, width>>>(out, Pair{1, 2});
    fill<<<1, width>>>(out, Box<double>{1});
    cudaDeviceSynchronize();
    show("main", out);
    smooth(out);
    cudaMemcpyFromSymbol(&n, used, sizeof(n));
    printf("%d %d\n", n, count(5));
}
