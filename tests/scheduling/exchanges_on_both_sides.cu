#include <stdio.h>
// Lanes come to one exchange at two places, or at four: since sm_70 it is one. An H200 gives what is compared here.
// sm_90: ends
// sm_35: invalid_mask
__device__ int any_of(int v) { return __any_sync(0xffffffff, v); }
__global__ void k(int *out)
{
    int t = threadIdx.x;
    if (t < 16) out[t] = __shfl_xor_sync(0xffffffff, t, 16);
    else out[t] = __shfl_xor_sync(0xffffffff, t, 16);
    if (t & 1) out[32 + t] = __all_sync(0xffffffff, t < 31) + 2 * any_of(t == 30);
    else out[32 + t] = __all_sync(0xffffffff, t < 31) + 2 * any_of(t == 30);
    switch (t & 3) {
    case 0: out[64 + t] = __ballot_sync(0xffffffff, t & 4); break;
    case 1: out[64 + t] = __ballot_sync(0xffffffff, t & 4); break;
    case 2: out[64 + t] = __ballot_sync(0xffffffff, t & 4); break;
    default: out[64 + t] = __ballot_sync(0xffffffff, t & 4);
    }
}
// What each side gives is one value there, and another one on the other side.
__global__ void constants(int *out)
{
    int t = threadIdx.x, v;
    if (t < 16) v = __shfl_sync(0xffffffff, 7, t & 1 ? t : t + 16);
    else v = __shfl_sync(0xffffffff, 9, t & 1 ? t : t - 16);
    out[t] = v;
}
// The lower half alone, in three branches.
__global__ void half(double *out)
{
    int t = threadIdx.x;
    double v = t + 0.5;
    if (t < 16) {
        if (t < 3) v = __shfl_xor_sync(0xffff, v, 15);
        else if (t < 9) v = __shfl_xor_sync(0xffff, v, 15);
        else v = __shfl_xor_sync(0xffff, v, 15);
    }
    out[t] = v;
}
int main()
{
    int h[96], *d, wrong = 0;
    double g[32], *e;
    cudaMalloc(&d, sizeof(h));
    cudaMalloc(&e, sizeof(g));
    k<<<1, 32>>>(d);
    cudaMemcpy(h, d, sizeof(h), cudaMemcpyDeviceToHost);
    for (int t = 0; t < 32; t++) wrong += h[t] != (t ^ 16) || h[32 + t] != 2 || h[64 + t] != (int)0xf0f0f0f0;
    constants<<<1, 32>>>(d);
    cudaMemcpy(h, d, 128, cudaMemcpyDeviceToHost);
    for (int t = 0; t < 32; t++) wrong += h[t] != ((t < 16) == (t & 1) ? 7 : 9);
    half<<<1, 32>>>(e);
    cudaMemcpy(g, e, sizeof(g), cudaMemcpyDeviceToHost);
    for (int t = 0; t < 32; t++) wrong += g[t] != (t < 16 ? 15 - t : t) + 0.5;
    cudaFree(d);
    cudaFree(e);
    printf(wrong ? "WRONG\n" : "OK\n");
}
