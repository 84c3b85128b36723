// Launches as some editors space them, and integers that <cuda.h> brings.
#include <cuda.h>
#include <stdio.h>
#define BLOCKS(n) (((n) + 31) / 32)
typedef uint32_t Word;
template <int by> __global__ void scale(Word *x, int n) { int t = blockIdx.x * blockDim.x + threadIdx.x; if (t < n) x[t] *= by; }
int main() {
    Word *x; const int n = 100;
    cudaMallocManaged(&x, n * sizeof(Word));
    for (int i = 0; i < n; i++) x[i] = i;
    scale<2> << <BLOCKS(n), 32 >> > (x, n);
    scale<3> << < dim3(n > 50 ? 4 : 2), dim3(32), 0,
        0 >> >(x, n);
    scale<5> <<<BLOCKS(n), 64>>>(x, n); printf("%d << <%s>> >\n", (int)cudaDeviceSynchronize(), "1");
    printf("%u %u %d\n", x[1], x[99], 1 << 9 >> 2 > (3));
    return 0;
}
