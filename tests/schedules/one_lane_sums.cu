// One lane adds up what its block has stored, for many rounds, while the others wait for it: at the barrier, and then in a shuffle
// depends: no
#include <stdio.h>

#define N 64

__device__ unsigned power(unsigned base, unsigned n) {
    unsigned p = 1;
    for (unsigned i = 0; i < n; i++) p = p * base % 10007;
    return p;
}

__global__ void sums(const int *in, int *out) {
    __shared__ int s[N];
    int t = threadIdx.x, v = in[t];
    s[t] = v;
    __syncthreads();
    if (t == 0)
        for (int i = 1; i < N; i++) v += s[i];
    // A lane that computes for long has not stopped.
    if (t == 5) v = power(3, 5000);
    __syncthreads();
    v += __shfl_xor_sync(0xffffffffu, v, 1);
    out[t] = v;
}

int main() {
    int h[N], *in, *out;
    for (int i = 0; i < N; i++) h[i] = i;
    cudaMalloc(&in, sizeof h);
    cudaMalloc(&out, sizeof h);
    cudaMemcpy(in, h, sizeof h, cudaMemcpyHostToDevice);
    sums<<<1, N>>>(in, out);
    cudaMemcpy(h, out, sizeof h, cudaMemcpyDeviceToHost);
    printf("%d %d %d\n", h[0], h[4], h[63]);
    cudaFree(in);
    cudaFree(out);
}
