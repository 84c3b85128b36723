// What a launch costs the host: a row of empty kernels, and copies of a small matrix between two events. `launches.sh` runs it.
#include <chrono>
#include <stdio.h>
#include <stdlib.h>

#define CHECK(call)                                                                         \
    do {                                                                                    \
        cudaError_t status = (call);                                                        \
        if (status != cudaSuccess) {                                                        \
            fprintf(stderr, "%s:%d: %s\n", __FILE__, __LINE__, cudaGetErrorString(status)); \
            exit(2);                                                                        \
        }                                                                                   \
    } while (0)

__global__ void empty(int) {}

__global__ void copy(const float *in, float *out, int n)
{
    int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
    if (x < n && y < n) out[y * n + x] = in[y * n + x];
}

int main(int argc, char **argv)
{
    int rows = argc > 1 ? atoi(argv[1]) : 10, launches = argc > 2 ? atoi(argv[2]) : 1000;
    cudaEvent_t begin, end;
    CHECK(cudaEventCreate(&begin));
    CHECK(cudaEventCreate(&end));
    float least = 1e30f, least_host = 1e30f;
    for (int row = 0; row < rows; row++) {
        CHECK(cudaDeviceSynchronize());
        auto start = std::chrono::steady_clock::now();
        CHECK(cudaEventRecord(begin));
        for (int i = 0; i < launches; i++) empty<<<1, 32>>>(i);
        CHECK(cudaEventRecord(end));
        CHECK(cudaEventSynchronize(end));
        std::chrono::duration<double, std::micro> host = std::chrono::steady_clock::now() - start;
        float ms;
        CHECK(cudaEventElapsedTime(&ms, begin, end));
        if (ms < least) least = ms;
        if (host.count() < least_host) least_host = (float)host.count();
    }
    printf("an empty launch, us: %.2f by events, %.2f by the host's clock\n", least * 1e3f / launches, least_host / launches);

    const int n = 1024;
    float *in, *out;
    CHECK(cudaMalloc(&in, n * n * sizeof(float)));
    CHECK(cudaMalloc(&out, n * n * sizeof(float)));
    CHECK(cudaMemset(in, 0, n * n * sizeof(float)));
    dim3 block(32, 8), grid(n / 32, n / 8);
    least = 1e30f;
    for (int row = 0; row < rows; row++) {
        CHECK(cudaEventRecord(begin));
        for (int i = 0; i < 100; i++) copy<<<grid, block>>>(in, out, n);
        CHECK(cudaEventRecord(end));
        CHECK(cudaEventSynchronize(end));
        float ms;
        CHECK(cudaEventElapsedTime(&ms, begin, end));
        if (ms < least) least = ms;
    }
    printf("100 copies of 1024 squared, ms: %.3f\n", least);
    CHECK(cudaFree(in));
    CHECK(cudaFree(out));
    return 0;
}
