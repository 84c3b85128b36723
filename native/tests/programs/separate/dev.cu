#include "kern.h"
__constant__ float coef[4];
__device__ int hits;
__managed__ int scale;
__device__ float helper(float x) { atomicAdd(&hits, 1); return x * coef[1] * scale; }
