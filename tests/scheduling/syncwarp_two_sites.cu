// The two halves of a warp meet at __syncwarp calls that stand at different statements, one half in a loop, the other unrolled.
// sm_90: ends
// sm_35: invalid_mask
// (up to sm_6x the masked lanes must execute the same __syncwarp converged; a lockstep warp that waits there never ends)
#include <stdio.h>

#define THREADS 64

__global__ void swap_halves(const int *in, int *out) {
    __shared__ volatile int box[THREADS];
    int t = threadIdx.x;
    int lane = t & 31;
    int v = in[t];
    box[t] = 0;
    __syncthreads();
    if (lane < 16) {
        for (int k = 0; k < 3; k++) {
            box[t] = v + k;
            __syncwarp();
            int other = box[t + 16];
            __syncwarp();
            v = v * 2 - other;
        }
    } else {
        int other;
        box[t] = v;
        __syncwarp();
        other = box[t - 16];
        __syncwarp();
        v = v + 3 * other;
        box[t] = v;
        __syncwarp();
        other = box[t - 16];
        __syncwarp();
        v = v - other;
        box[t] = v;
        __syncwarp();
        other = box[t - 16];
        __syncwarp();
        v = v ^ other;
    }
    out[t] = v;
}

int main() {
    int in[THREADS], out[THREADS], ok = 1;
    for (int i = 0; i < THREADS; i++) {
        in[i] = (i * 13) % 50;
        out[i] = 0;
    }
    int *di, *dout;
    cudaMalloc(&di, sizeof in);
    cudaMalloc(&dout, sizeof out);
    cudaMemcpy(di, in, sizeof in, cudaMemcpyHostToDevice);
    cudaMemcpy(dout, out, sizeof out, cudaMemcpyHostToDevice);
    swap_halves<<<1, THREADS>>>(di, dout);
    cudaDeviceSynchronize();
    cudaMemcpy(out, dout, sizeof out, cudaMemcpyDeviceToHost);
    for (int i = 0; i < THREADS; i++) {
        if ((i & 31) >= 16) continue;
        int a = in[i], b = in[i + 16];
        for (int k = 0; k < 3; k++) {
            int boxa = a + k, boxb = b;
            a = a * 2 - boxb;
            b = k == 0 ? b + 3 * boxa : k == 1 ? b - boxa : b ^ boxa;
        }
        if (out[i] != a || out[i + 16] != b) ok = 0;
    }
    cudaFree(di);
    cudaFree(dout);
    printf(ok ? "OK\n" : "WRONG\n");
    return 0;
}
