// CUB's algorithms over device memory, with their two calls.
#include <cstdio>
#include <cub/cub.cuh>
template <class T> void print(const char *name, const T *device, int count) {
    T host[16];
    cudaMemcpy(host, device, count * sizeof(T), cudaMemcpyDeviceToHost);
    printf("%s:", name);
    for (int i = 0; i < count; i++) printf(" %g", (double)host[i]);
    puts("");
}
#define TWICE(call)                                                                                                                 \
    {                                                                                                                               \
        void *temporary = nullptr;                                                                                                  \
        size_t bytes = 0;                                                                                                           \
        call;                                                                                                                       \
        cudaMalloc(&temporary, bytes);                                                                                              \
        call;                                                                                                                       \
        cudaFree(temporary);                                                                                                        \
    }
int main() {
    const int n = 8;
    int keys[n] = {5, -3, 5, 0, 12, -7, 5, 2};
    float values[n] = {0, 1, 2, 3, 4, 5, 6, 7};
    int *in, *out, *count;
    float *from, *to;
    cudaMalloc(&in, sizeof keys);
    cudaMalloc(&out, sizeof keys);
    cudaMalloc(&count, sizeof(int));
    cudaMalloc(&from, sizeof values);
    cudaMalloc(&to, sizeof values);
    cudaMemcpy(in, keys, sizeof keys, cudaMemcpyHostToDevice);
    cudaMemcpy(from, values, sizeof values, cudaMemcpyHostToDevice);
    TWICE(cub::DeviceReduce::Sum(temporary, bytes, in, out, n));
    print("sum", out, 1);
    TWICE(cub::DeviceReduce::Max(temporary, bytes, in, out, n));
    print("most", out, 1);
    TWICE(cub::DeviceScan::ExclusiveSum(temporary, bytes, in, out, n));
    print("before", out, n);
    TWICE(cub::DeviceScan::InclusiveSum(temporary, bytes, in, out, n));
    print("up to", out, n);
    TWICE(cub::DeviceRadixSort::SortPairs(temporary, bytes, in, out, from, to, n));
    print("keys", out, n);
    print("values", to, n);
    TWICE(cub::DeviceSelect::Unique(temporary, bytes, out, out, count, n));
    print("unique", count, 1);
    TWICE(cub::DeviceRadixSort::SortKeysDescending(temporary, bytes, from, to, n));
    print("descending", to, n);
    TWICE(cub::DeviceHistogram::HistogramEven(temporary, bytes, from, out, 5, 0.0f, 8.0f, n));
    print("bins", out, 4);
}
