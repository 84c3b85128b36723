// Largest magnitude of each block of 512 floats, two arrays (value and place) through the tree.
// Argument: launches (default 1).
#include <cstdio>
#include <cstdlib>
#include <cmath>

__global__ void largest(const float *x, float *value, int *place)
{
    __shared__ float v[512];
    __shared__ int at[512];
    int t = threadIdx.x, i = blockIdx.x * 512 + t;
    v[t] = fabsf(x[i]);
    at[t] = i;
    __syncthreads();
    for (int s = 256; s > 0; s /= 2) {
        if (t < s && v[t + s] > v[t]) {
            v[t] = v[t + s];
            at[t] = at[t + s];
        }
        __syncthreads();
    }
    if (t == 0) {
        value[blockIdx.x] = v[0];
        place[blockIdx.x] = at[0];
    }
}

int main(int argc, char **argv)
{
    int launches = argc > 1 ? atoi(argv[1]) : 1, blocks = 2048, n = blocks * 512;
    float *h = (float *)malloc(4 * n), *dx, *dv, *v = (float *)malloc(4 * blocks);
    int *dp, *p = (int *)malloc(4 * blocks);
    unsigned s = 7;
    for (int i = 0; i < n; i++) {
        s = s * 1664525u + 1013904223u;
        h[i] = (int)(s >> 8) * 0.001f - 8000.0f;
    }
    cudaMalloc(&dx, 4 * n);
    cudaMalloc(&dv, 4 * blocks);
    cudaMalloc(&dp, 4 * blocks);
    cudaMemcpy(dx, h, 4 * n, cudaMemcpyHostToDevice);
    for (int l = 0; l < launches; l++)
        largest<<<blocks, 512>>>(dx, dv, dp);
    cudaMemcpy(v, dv, 4 * blocks, cudaMemcpyDeviceToHost);
    cudaMemcpy(p, dp, 4 * blocks, cudaMemcpyDeviceToHost);
    int wrong = 0;
    for (int b = 0; b < blocks; b += 97) {
        float most = -1;
        for (int i = b * 512; i < b * 512 + 512; i++)
            most = fmaxf(most, fabsf(h[i]));
        wrong += most != v[b] || fabsf(h[p[b]]) != most;
    }
    printf("wrong %d\n", wrong);
    cudaFree(dx);
    cudaFree(dv);
    cudaFree(dp);
    free(h);
    free(v);
    free(p);
    return wrong != 0;
}
