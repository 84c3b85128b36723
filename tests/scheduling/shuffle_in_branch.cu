// Three sides of a divergent branch each reduce over their own lanes, shuffling with the mask of just those lanes.
// sm_90: ends
// sm_35: ends
#include <stdio.h>

#define THREADS 64

__host__ __device__ int side(int v) { return v % 7 == 0 ? 0 : v % 2 == 0 ? 1 : 2; }

__global__ void reduce_sides(const int *in, int *out) {
    int t = threadIdx.x;
    int v = in[t];
    int s = side(v);
    unsigned zero = __ballot_sync(0xffffffffu, s == 0);
    unsigned one = __ballot_sync(0xffffffffu, s == 1);
    unsigned two = ~(zero | one);
    int acc;
    if (s == 0) {
        acc = 0;
        for (unsigned m = zero; m; m &= m - 1) acc += __shfl_sync(zero, v, __ffs(m) - 1);
    } else if (s == 1) {
        acc = -1;
        for (unsigned m = one; m; m &= m - 1) {
            int x = __shfl_sync(one, v, __ffs(m) - 1);
            if (x > acc) acc = x;
        }
    } else {
        // the last lane of this side, then the parity of every member
        acc = __shfl_sync(two, v, 31 - __clz(two)) * 4;
        for (unsigned m = two; m; m &= m - 1) acc ^= __shfl_sync(two, v, __ffs(m) - 1);
    }
    out[t] = acc;
}

int main() {
    int in[THREADS], out[THREADS], ok = 1;
    for (int i = 0; i < THREADS; i++) {
        in[i] = (i * 45 + 14) % 97;
        out[i] = -5;
    }
    int *di, *dout;
    cudaMalloc(&di, sizeof in);
    cudaMalloc(&dout, sizeof out);
    cudaMemcpy(di, in, sizeof in, cudaMemcpyHostToDevice);
    cudaMemcpy(dout, out, sizeof out, cudaMemcpyHostToDevice);
    reduce_sides<<<1, THREADS>>>(di, dout);
    cudaDeviceSynchronize();
    cudaMemcpy(out, dout, sizeof out, cudaMemcpyDeviceToHost);
    for (int w = 0; w < THREADS; w += 32) {
        int sum = 0, max = -1, last = 0, par = 0;
        for (int i = w; i < w + 32; i++) {
            if (side(in[i]) == 0) sum += in[i];
            else if (side(in[i]) == 1) max = in[i] > max ? in[i] : max;
            else {
                last = in[i];
                par ^= in[i];
            }
        }
        for (int i = w; i < w + 32; i++) {
            int want = side(in[i]) == 0 ? sum : side(in[i]) == 1 ? max : (last * 4) ^ par;
            if (out[i] != want) ok = 0;
        }
    }
    cudaFree(di);
    cudaFree(dout);
    printf(ok ? "OK\n" : "WRONG\n");
    return 0;
}
