#pragma once
#include <cuda_runtime.h>
extern __constant__ float coef[4];
extern __device__ int hits;
__device__ float helper(float x);
void launch(float *d, int n);
extern __managed__ int scale;
