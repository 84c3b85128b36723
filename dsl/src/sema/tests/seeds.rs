//! Typical programs.

use super::{check, passes};

#[test]
fn the_prelude_has_no_messages() {
    let checked = check("");
    assert_eq!(checked.lines(), "");
    assert!(
        checked
            .program
            .is_some_and(|program| program.functions.is_empty())
    );
}

#[test]
fn prelude_functions_are_kept_when_used() {
    let program = passes(
        "int main() { cudaDeviceProp p; cudaGetDeviceProperties(&p, 0); printf(\"%s %d\\n\", p.name, p.major);
         int v; cudaDeviceGetAttribute(&v, cudaDevAttrWarpSize, 0); return 0; }",
    );
    let names: Vec<_> = program
        .functions
        .iter()
        .map(|function| function.name.as_str())
        .collect();
    assert_eq!(
        names,
        ["main", "cudaGetDeviceProperties", "cudaDeviceGetAttribute"]
    );
    assert!(
        program
            .functions
            .iter()
            .all(|function| function.body.is_some())
    );
}

#[test]
fn the_reversal_program_passes() {
    let program = passes(
        r#"#include <stdio.h>

__global__ void staticReverse(int *d, int n)
{
  __shared__ int s[64];
  int t = threadIdx.x;
  int tr = n-t-1;
  s[t] = d[t];
  __syncthreads();
  d[t] = s[tr];
}

__global__ void dynamicReverse(int *d, int n)
{
  extern __shared__ int s[];
  int t = threadIdx.x;
  int tr = n-t-1;
  s[t] = d[t];
  __syncthreads();
  d[t] = s[tr];
}

int main(void)
{
  const int n = 64;
  int a[n], r[n], d[n];

  for (int i = 0; i < n; i++) {
    a[i] = i;
    r[i] = n-i-1;
    d[i] = 0;
  }

  int *d_d;
  cudaMalloc(&d_d, n * sizeof(int));

  cudaMemcpy(d_d, a, n*sizeof(int), cudaMemcpyHostToDevice);
  staticReverse<<<1,n>>>(d_d, n);
  cudaMemcpy(d, d_d, n*sizeof(int), cudaMemcpyDeviceToHost);
  for (int i = 0; i < n; i++)
    if (d[i] != r[i]) printf("Error: d[%d]!=r[%d] (%d, %d)\n", i, i, d[i], r[i]);

  cudaMemcpy(d_d, a, n*sizeof(int), cudaMemcpyHostToDevice);
  dynamicReverse<<<1,n,n*sizeof(int)>>>(d_d, n);
  cudaMemcpy(d, d_d, n * sizeof(int), cudaMemcpyDeviceToHost);
  for (int i = 0; i < n; i++)
    if (d[i] != r[i]) printf("Error: d[%d]!=r[%d] (%d, %d)\n", i, i, d[i], r[i]);
}
"#,
    );
    assert_eq!(program.functions.len(), 3);
}

#[test]
fn the_reductions_and_transposes_pass() {
    passes(
        r#"
#define TILE_DIM 32
#define DIM 128
typedef float real;
const int N = 10000;
const unsigned M = sizeof(real) * N;
#define CHECK(call) do { const cudaError_t e = call; if (e != cudaSuccess) { \
    printf("Error: %s:%d, code: %d, reason: %s\n", __FILE__, __LINE__, e, cudaGetErrorString(e)); exit(1); } } while (0)

void __global__ reduce_shared(real *d_x, real *d_y)
{
    const int tid = threadIdx.x;
    const int bid = blockIdx.x;
    const int n = bid * blockDim.x + tid;
    __shared__ real s_y[128];
    s_y[tid] = (n < N) ? d_x[n] : 0.0;
    __syncthreads();
    for (int offset = blockDim.x >> 1;offset > 0;offset>>=1)
    {
        if (tid < offset) { s_y[tid] += s_y[tid + offset]; }
        __syncthreads();
    }
    if (tid == 0) { d_y[bid] = s_y[0]; }
}
__global__ void transpose1(const real *A, real *B, const int N)
{
    __shared__ real S[TILE_DIM][TILE_DIM + 1];
    int bx = blockIdx.x * TILE_DIM;
    int nx1 = bx + threadIdx.x;
    int ny1 = blockIdx.y * TILE_DIM + threadIdx.y;
    if (nx1 < N && ny1 < N) S[threadIdx.y][threadIdx.x] = A[ny1 * N + nx1];
    __syncthreads();
    B[nx1 * N + ny1] = S[threadIdx.x][threadIdx.y];
}
__global__ void reduceSmem(int *g_idata, int *g_odata, unsigned int n)
{
    __shared__ int smem[DIM];
    unsigned int tid = threadIdx.x;
    unsigned int idx = blockIdx.x * blockDim.x + threadIdx.x;
    if (idx >= n) return;
    int *idata = g_idata + blockIdx.x * blockDim.x;
    smem[tid] = idata[tid];
    __syncthreads();
    if (blockDim.x >= 1024 && tid < 512)
        smem[tid] += smem[tid + 512];
    __syncthreads();
    if (tid < 32)
    {
        volatile int *vsmem = smem;
        vsmem[tid] += vsmem[tid + 32];
        vsmem[tid] += vsmem[tid +  1];
    }
    if (tid == 0) g_odata[blockIdx.x] = smem[0];
}
__global__ void several(int nI, int nF)
{
    extern __shared__ int s[];
    int *integerData = s;
    float *floatData = (float*)&integerData[nI];
    char *charData = (char*)&floatData[nF];
    integerData[0] = 1; floatData[0] = 1; charData[0] = 'a';
}
__global__ void other() { extern __shared__ float f[]; f[threadIdx.x] = 0.5; }
int main(int argc, char **argv)
{
    dim3 block(32, 8), grid = {4, 4};
    dim3 third = dim3((N + 31) / 32), plain;
    real *h = (real *)malloc(M), *d_x, *d_y;
    CHECK(cudaMalloc((void **)&d_x, M));
    CHECK(cudaMalloc(&d_y, M));
    reduce_shared<<<4, 128>>>(d_x, d_y);
    transpose1<<<grid, block>>>(d_x, d_y, N);
    reduceSmem<<<third, block.x, 0, 0>>>((int *)d_x, (int *)d_y, N);
    CHECK(cudaGetLastError());
    CHECK(cudaDeviceSynchronize());
    cudaEvent_t start, stop;
    CHECK(cudaEventCreate(&start));
    CHECK(cudaEventRecord(start));
    CHECK(cudaEventRecord(start, 0));
    float ms;
    CHECK(cudaEventElapsedTime(&ms, start, stop));
    fprintf(stderr, "%f %s\n", ms, argc > 1 ? argv[1] : "");
    cudaDeviceSetSharedMemConfig(cudaSharedMemBankSizeEightByte);
    cudaFuncSetAttribute(several, cudaFuncAttributeMaxDynamicSharedMemorySize, 65536);
    cudaFuncSetCacheConfig(other, cudaFuncCachePreferShared);
    cudaFree(d_x);
    free(h);
    return 0;
}
"#,
    );
}
