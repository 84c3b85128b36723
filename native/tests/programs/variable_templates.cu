// Templates of variables: the object names their instances by mangled names.
#include <cstdio>
#include <utility>

template <typename T> __constant__ T weights[2];
namespace tables {
template <typename T, unsigned N> __device__ T squares[N];
}

template <typename T> __global__ void fill(T *out) {
    int t = threadIdx.x, u = 2;
    tables::squares<T, 4u>[t] = T(t * t);
    std::swap(t, u);
    out[u] = weights<T>[u % 2] + t;
}

int main() {
    float halves[2] = {0.5f, 1.5f}, out[4], squares[4];
    int whole[2] = {10, 20}, counts[4];
    float *d;
    cudaMalloc(&d, sizeof out);
    cudaMemcpyToSymbol(weights<float>, halves, sizeof halves);
    cudaMemcpyToSymbol(weights<int>, whole, sizeof whole);
    fill<<<1, 4>>>(d);
    cudaMemcpy(out, d, sizeof out, cudaMemcpyDeviceToHost);
    fill<<<1, 4>>>((int *)d);
    cudaMemcpy(counts, d, sizeof counts, cudaMemcpyDeviceToHost);
    cudaMemcpyFromSymbol(squares, tables::squares<float, 4u>, sizeof squares);
    for (int i = 0; i < 4; i++) printf("%g %d %g\n", out[i], counts[i], squares[i]);
    cudaFree(d);
    return 0;
}
