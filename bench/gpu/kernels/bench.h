// What the programs of this folder share: data, times, and the line that each prints.
//
//   NAME [SIZE] [RUNS]      SIZE is small by default or if it is 0, for the simulator; RUNS launches are timed, by default none
//
// A program makes its data on the device from a hash of the index, so that the host can compute any element again for its check. It prints
// the median of the launches' times, whether the check held, and a checksum of all bits of the result.
#pragma once
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define CHECK(call)                                                                         \
    do {                                                                                    \
        cudaError_t status = (call);                                                        \
        if (status != cudaSuccess) {                                                        \
            fprintf(stderr, "%s:%d: %s\n", __FILE__, __LINE__, cudaGetErrorString(status)); \
            exit(2);                                                                        \
        }                                                                                   \
    } while (0)

#define MAX_RUNS 101

static int bench_runs = 0;
static float bench_ms = 0.0f;

static int bench_size(int argc, char **argv, int small)
{
    bench_runs = argc > 2 ? atoi(argv[2]) : 0;
    if (bench_runs > MAX_RUNS) bench_runs = MAX_RUNS;
    int size = argc > 1 ? atoi(argv[1]) : 0;
    return size > 0 ? size : small;
}

// Word `i` of the sequence `seed`.
__host__ __device__ inline unsigned word_at(unsigned i, unsigned seed)
{
    unsigned h = i * 2654435761u + seed * 0x9e3779b9u + 0x7f4a7c15u;
    h = (h ^ (h >> 16)) * 0x85ebca6bu;
    h = (h ^ (h >> 13)) * 0xc2b2ae35u;
    return h ^ (h >> 16);
}

// The same as a number from `low` to `high`. `fmaf`, so that every compiler gives the same bits.
__host__ __device__ inline float float_at(unsigned i, unsigned seed, float low, float high)
{
    return fmaf((float)(word_at(i, seed) >> 8) * (1.0f / 16777216.0f), high - low, low);
}

__global__ void fill_words(unsigned *p, size_t n, unsigned seed)
{
    size_t stride = (size_t)gridDim.x * blockDim.x;
    for (size_t i = blockIdx.x * (size_t)blockDim.x + threadIdx.x; i < n; i += stride) p[i] = word_at((unsigned)i, seed);
}

__global__ void fill_floats(float *p, size_t n, unsigned seed, float low, float high)
{
    size_t stride = (size_t)gridDim.x * blockDim.x;
    for (size_t i = blockIdx.x * (size_t)blockDim.x + threadIdx.x; i < n; i += stride) p[i] = float_at((unsigned)i, seed, low, high);
}

__global__ void sum_words(const unsigned *p, size_t n, unsigned long long *sum)
{
    size_t stride = (size_t)gridDim.x * blockDim.x;
    unsigned long long mine = 0;
    for (size_t i = blockIdx.x * (size_t)blockDim.x + threadIdx.x; i < n; i += stride)
        mine += (unsigned long long)p[i] * (unsigned)(2 * i + 1);
    atomicAdd(sum, mine);
}

// Blocks that fill the device, and no more than there is work for.
static unsigned bench_blocks(size_t n)
{
    size_t blocks = (n + 255) / 256;
    return blocks < 2048 ? (unsigned)blocks : 2048u;
}

static void *device_bytes(size_t bytes)
{
    void *p;
    CHECK(cudaMalloc(&p, bytes));
    CHECK(cudaMemset(p, 0, bytes));
    return p;
}

static float *device_floats(size_t n, unsigned seed, float low, float high)
{
    float *p = (float *)device_bytes(n * 4);
    fill_floats<<<bench_blocks(n), 256>>>(p, n, seed, low, high);
    CHECK(cudaGetLastError());
    return p;
}

static unsigned *device_words(size_t n, unsigned seed)
{
    unsigned *p = (unsigned *)device_bytes(n * 4);
    fill_words<<<bench_blocks(n), 256>>>(p, n, seed);
    CHECK(cudaGetLastError());
    return p;
}

// One element of a result.
static float float_of(const float *device, size_t i)
{
    float value;
    CHECK(cudaMemcpy(&value, device + i, 4, cudaMemcpyDeviceToHost));
    return value;
}

static unsigned word_of(const void *device, size_t i)
{
    unsigned value;
    CHECK(cudaMemcpy(&value, (const unsigned *)device + i, 4, cudaMemcpyDeviceToHost));
    return value;
}

// Number `k` of some that are spread over 0 to `n - 1`, both ends among them.
static size_t sample(int k, size_t n)
{
    return k == 0 ? n - 1 : k == 1 ? 0 : (size_t)((unsigned long long)word_at(k, 99) * n >> 32);
}

#define SAMPLES 61

static bool is_near(double got, double want, double tolerance)
{
    double scale = fabs(want) > 1.0 ? fabs(want) : 1.0;
    return fabs(got - want) <= tolerance * scale;
}

static float median_of(float *times, int n)
{
    for (int i = 1; i < n; i++)
        for (int j = i; j > 0 && times[j - 1] > times[j]; j--) {
            float swap = times[j];
            times[j] = times[j - 1];
            times[j - 1] = swap;
        }
    return times[n / 2];
}

// Runs a launch once, and then RUNS times between two events. Before the first event stands one more launch: while the GPU runs it, the host
// puts the events and the launch into the queue, so that the host's own time is in no measurement. Its names are its own: the launch names the program's.
#define MEASURE(...)                                                                        \
    do {                                                                                    \
        __VA_ARGS__;                                                                        \
        CHECK(cudaGetLastError());                                                          \
        CHECK(cudaDeviceSynchronize());                                                     \
        cudaEvent_t bench_begin, bench_finish;                                              \
        CHECK(cudaEventCreate(&bench_begin));                                               \
        CHECK(cudaEventCreate(&bench_finish));                                              \
        float bench_times[MAX_RUNS];                                                        \
        for (int bench_run = 0; bench_run < bench_runs; bench_run++) {                      \
            __VA_ARGS__;                                                                    \
            CHECK(cudaEventRecord(bench_begin));                                            \
            __VA_ARGS__;                                                                    \
            CHECK(cudaEventRecord(bench_finish));                                           \
            CHECK(cudaEventSynchronize(bench_finish));                                      \
            CHECK(cudaEventElapsedTime(&bench_times[bench_run], bench_begin, bench_finish));\
        }                                                                                   \
        if (bench_runs > 0) bench_ms = median_of(bench_times, bench_runs);                  \
        CHECK(cudaEventDestroy(bench_begin));                                               \
        CHECK(cudaEventDestroy(bench_finish));                                              \
    } while (0)

// The program's line and its exit code.
static int bench_end(const char *name, bool ok, const void *result, size_t words)
{
    unsigned long long *sum = (unsigned long long *)device_bytes(8), bits = 0;
    sum_words<<<bench_blocks(words), 256>>>((const unsigned *)result, words, sum);
    CHECK(cudaGetLastError());
    CHECK(cudaMemcpy(&bits, sum, 8, cudaMemcpyDeviceToHost));
    CHECK(cudaFree(sum));
    printf("%s time_ms=%.4f check=%s bits=%016llx\n", name, bench_ms, ok ? "ok" : "WRONG", bits);
    return ok ? 0 : 1;
}
