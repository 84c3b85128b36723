// images: a mask of 7 x 7 in constant memory over an image, through a tile
// large: 4096
#include "bench.h"

#define MASK 7
#define RADIUS (MASK / 2)
#define TILE 16
#define SIDE (TILE + MASK - 1)

__constant__ float mask[MASK][MASK];

__global__ void convolution(const float *in, float *out, int width, int height)
{
    __shared__ float tile[SIDE][SIDE];
    int left = blockIdx.x * TILE - RADIUS, top = blockIdx.y * TILE - RADIUS;
    for (int i = threadIdx.y * TILE + threadIdx.x; i < SIDE * SIDE; i += TILE * TILE) {
        int tx = i % SIDE, ty = i / SIDE, x = left + tx, y = top + ty;
        tile[ty][tx] = x >= 0 && x < width && y >= 0 && y < height ? in[y * width + x] : 0.0f;
    }
    __syncthreads();
    int x = blockIdx.x * TILE + threadIdx.x, y = blockIdx.y * TILE + threadIdx.y;
    if (x >= width || y >= height) return;
    float sum = 0.0f;
    for (int j = 0; j < MASK; j++)
        for (int i = 0; i < MASK; i++) sum += mask[j][i] * tile[threadIdx.y + j][threadIdx.x + i];
    out[y * width + x] = sum;
}

int main(int argc, char **argv)
{
    int n = bench_size(argc, argv, 64);
    size_t cells = (size_t)n * n;
    float host[MASK][MASK];
    for (int i = 0; i < MASK * MASK; i++) host[i / MASK][i % MASK] = float_at(i, 5, -0.5f, 0.5f);
    CHECK(cudaMemcpyToSymbol(mask, host, sizeof host));
    float *in = device_floats(cells, 1, 0.0f, 1.0f), *out = (float *)device_bytes(cells * 4);
    dim3 grid((n + TILE - 1) / TILE, (n + TILE - 1) / TILE), block(TILE, TILE);
    MEASURE(convolution<<<grid, block>>>(in, out, n, n));
    bool ok = true;
    for (int s = 0; s < SAMPLES; s++) {
        size_t at = sample(s, cells);
        int x = (int)(at % n), y = (int)(at / n);
        double want = 0.0;
        for (int j = 0; j < MASK; j++)
            for (int i = 0; i < MASK; i++) {
                int px = x + i - RADIUS, py = y + j - RADIUS;
                if (px >= 0 && px < n && py >= 0 && py < n) want += (double)host[j][i] * float_at(py * n + px, 1, 0.0f, 1.0f);
            }
        ok = ok && is_near(float_of(out, at), want, 1e-5);
    }
    int code = bench_end("convolution", ok, out, cells);
    CHECK(cudaFree(in));
    CHECK(cudaFree(out));
    return code;
}
