// Two teams of warps work on their own named barriers (bar.sync 1, 64 and bar.sync 2, 96) for different numbers of rounds, then meet.
// sm_90: ends
// sm_35: ends
#include <stdio.h>

#define FIRST 64
#define SECOND 96
#define ALL (FIRST + SECOND)

__device__ void team_sync(int id, int n) {
    asm volatile("bar.sync %0, %1;" ::"r"(id), "r"(n) : "memory");
}

__global__ void teams(const int *in, int *out) {
    __shared__ int s[ALL];
    int t = threadIdx.x;
    bool first = t < FIRST;
    int base = first ? 0 : FIRST;
    int n = first ? FIRST : SECOND;
    int id = first ? 1 : 2;
    int rounds = first ? 7 : 3;
    s[t] = in[t];
    team_sync(id, n);
    for (int r = 0; r < rounds; r++) {
        int left = s[base + (t - base + n - 1) % n];
        int far = s[base + (t - base + n / 2) % n];
        team_sync(id, n);
        s[t] = (left * 2 + far + r) % 10007;
        team_sync(id, n);
    }
    __syncthreads();
    out[t] = s[t] * 3 + s[ALL - 1 - t];
}

int main() {
    int in[ALL], out[ALL], s[ALL], o[ALL], ok = 1;
    for (int i = 0; i < ALL; i++) {
        in[i] = s[i] = (i * 37 + 3) % 211;
        out[i] = -1;
    }
    int *di, *dout;
    cudaMalloc(&di, sizeof in);
    cudaMalloc(&dout, sizeof out);
    cudaMemcpy(di, in, sizeof in, cudaMemcpyHostToDevice);
    cudaMemcpy(dout, out, sizeof out, cudaMemcpyHostToDevice);
    teams<<<1, ALL>>>(di, dout);
    cudaDeviceSynchronize();
    cudaMemcpy(out, dout, sizeof out, cudaMemcpyDeviceToHost);
    for (int team = 0; team < 2; team++) {
        int base = team ? FIRST : 0, n = team ? SECOND : FIRST, rounds = team ? 3 : 7;
        for (int r = 0; r < rounds; r++) {
            for (int i = 0; i < n; i++)
                o[i] = (s[base + (i + n - 1) % n] * 2 + s[base + (i + n / 2) % n] + r) % 10007;
            for (int i = 0; i < n; i++) s[base + i] = o[i];
        }
    }
    for (int i = 0; i < ALL; i++)
        if (out[i] != s[i] * 3 + s[ALL - 1 - i]) ok = 0;
    cudaFree(di);
    cudaFree(dout);
    printf(ok ? "OK\n" : "WRONG\n");
    return 0;
}
