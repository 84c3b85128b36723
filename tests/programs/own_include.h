#ifndef OWN_INCLUDE_H
#define OWN_INCLUDE_H
#define FACTOR 3
#define GLOBAL_INDEX (blockIdx.x * blockDim.x + threadIdx.x)
#define CUDA_OK(e) { cudaError_t r_ = (e); if (r_ != cudaSuccess) { printf("%s failed: %s\n", #e, cudaGetErrorString(r_)); return 1; } }
typedef struct { int a; long b; } Pair;
__host__ __device__ static inline long square(long x) { return x * x; }
static void print_pair(const Pair *p) { printf("(%d, %ld)\n", p->a, p->b); }
#endif /* OWN_INCLUDE_H */
