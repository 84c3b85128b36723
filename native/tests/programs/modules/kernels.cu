struct Pair { int first; short second; };
__device__ int bias = 100;
extern "C" __global__ void twice(int *p, float by, long n) { if (threadIdx.x < n) p[threadIdx.x] = (int)(p[threadIdx.x] * by) + bias; }
__global__ void plus(int *p, Pair pair, int n)
{
    extern __shared__ int part[];
    part[threadIdx.x] = pair.first + pair.second;
    if (threadIdx.x < n) p[threadIdx.x] += part[threadIdx.x];
}
