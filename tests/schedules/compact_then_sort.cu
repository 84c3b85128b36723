// Stream compaction with one atomic per warp for the place in the output, the unordered output then sorted on the host
// depends: no
#include <stdio.h>

#define BLOCKS 5
#define THREADS 128
#define N (BLOCKS * THREADS)

__host__ __device__ bool keep(int v) { return v % 3 == 1; }

__global__ void compact(const int *in, int *out, int *count) {
    int i = blockIdx.x * THREADS + threadIdx.x;
    int lane = threadIdx.x & 31;
    int v = in[i];
    unsigned mask = __ballot_sync(0xffffffffu, keep(v));
    int base = 0;
    if (lane == 0) base = atomicAdd(count, __popc(mask));
    base = __shfl_sync(0xffffffffu, base, 0);
    if (keep(v)) out[base + __popc(mask & ((1u << lane) - 1))] = v;
}

static void sort(int *a, int n) {
    for (int i = 1; i < n; i++) {
        int x = a[i], j = i;
        for (; j > 0 && a[j - 1] > x; j--) a[j] = a[j - 1];
        a[j] = x;
    }
}

int main() {
    static int in[N], out[N], want[N];
    int count = 0, n = 0, ok = 1;
    for (int i = 0; i < N; i++) {
        in[i] = (i * 389 + 71) % 1000;
        out[i] = -1;
        if (keep(in[i])) want[n++] = in[i];
    }
    int *di, *dout, *dc;
    cudaMalloc(&di, sizeof in);
    cudaMalloc(&dout, sizeof out);
    cudaMalloc(&dc, sizeof count);
    cudaMemcpy(di, in, sizeof in, cudaMemcpyHostToDevice);
    cudaMemcpy(dout, out, sizeof out, cudaMemcpyHostToDevice);
    cudaMemcpy(dc, &count, sizeof count, cudaMemcpyHostToDevice);
    compact<<<BLOCKS, THREADS>>>(di, dout, dc);
    cudaDeviceSynchronize();
    cudaMemcpy(out, dout, sizeof out, cudaMemcpyDeviceToHost);
    cudaMemcpy(&count, dc, sizeof count, cudaMemcpyDeviceToHost);
    if (count != n) ok = 0;
    sort(out, n);
    sort(want, n);
    unsigned sum = 0;
    for (int i = 0; i < n; i++) {
        sum = sum * 31u + (unsigned)out[i];
        if (out[i] != want[i]) ok = 0;
    }
    printf("kept %d checksum %u\n", count, sum);
    printf(ok ? "OK\n" : "WRONG\n");
    return 0;
}
