#pragma once
#include <cooperative_groups.h>
#include <cstdio>

__device__ int counter = 5;
__constant__ int table[4] = {1, 2, 3, 4};
__managed__ int shared_by_both = 3;
static __device__ int own = 7;
namespace { __device__ int hidden = 9; }
namespace filter { __device__ float weight = 0.5f; }
struct Settings { static __device__ int depth; };
__device__ int Settings::depth = 2;

__device__ inline int twice(int x) { return 2 * x; }
static __device__ int thrice(int x) { return 3 * x; }
__device__ int plain(int x) { return x + counter; }
static __global__ void show(const char *whose) {
    printf("%s: %d %d %d %d %d %g %d\n", whose, counter, table[1], shared_by_both, own, hidden, filter::weight, Settings::depth);
}
void other();
