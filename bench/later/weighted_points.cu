// Points of four floats, read with a stride of a row: float4 that do not lie in a row; then a dot product through shared memory.
// Argument: launches (default 1).
#include <cstdio>
#include <cstdlib>

__global__ void weigh(const float4 *points, const float4 *weights, float *out, int rows)
{
    __shared__ float4 tile[64];
    int t = threadIdx.x, i = blockIdx.x * 64 + t;
    tile[t] = weights[t];
    __syncthreads();
    float sum = 0;
    for (int k = 0; k < rows; k++) {
        float4 p = points[i * rows + k], w = tile[(t * 7 + k) % 64];
        sum += p.x * w.x + p.y * w.y + p.z * w.z + p.w * w.w;
    }
    out[i] = sum;
}

int main(int argc, char **argv)
{
    int launches = argc > 1 ? atoi(argv[1]) : 1, n = 32768, rows = 32;
    float *h = (float *)malloc(16 * n * rows), *w = (float *)malloc(16 * 64), *o = (float *)malloc(4 * n);
    for (int i = 0; i < 4 * n * rows; i++)
        h[i] = i % 13 - 6;
    for (int i = 0; i < 256; i++)
        w[i] = i % 5 - 2;
    float4 *dp, *dw;
    float *d;
    cudaMalloc(&dp, 16 * n * rows);
    cudaMalloc(&dw, 16 * 64);
    cudaMalloc(&d, 4 * n);
    cudaMemcpy(dp, h, 16 * n * rows, cudaMemcpyHostToDevice);
    cudaMemcpy(dw, w, 16 * 64, cudaMemcpyHostToDevice);
    for (int l = 0; l < launches; l++)
        weigh<<<n / 64, 64>>>(dp, dw, d, rows);
    cudaMemcpy(o, d, 4 * n, cudaMemcpyDeviceToHost);
    int wrong = 0;
    for (int i = 0; i < n; i++) {
        float sum = 0;
        for (int k = 0; k < rows; k++)
            for (int c = 0; c < 4; c++)
                sum += h[(i * rows + k) * 4 + c] * w[(i % 64 * 7 + k) % 64 * 4 + c];
        wrong += sum != o[i];
    }
    printf("wrong %d\n", wrong);
    cudaFree(dp);
    cudaFree(dw);
    cudaFree(d);
    free(h);
    free(w);
    free(o);
    return wrong != 0;
}
