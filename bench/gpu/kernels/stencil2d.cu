// stencils: one step of heat on a plate, with a border of each tile in shared memory
// large: 8192
#include "bench.h"

#define SIDE 16

__global__ void stencil2d(const float *in, float *out, int width, int height, float k)
{
    __shared__ float tile[SIDE + 2][SIDE + 2];
    int x = blockIdx.x * SIDE + threadIdx.x, y = blockIdx.y * SIDE + threadIdx.y;
    int tx = threadIdx.x + 1, ty = threadIdx.y + 1;
    if (x < width && y < height) {
        int i = y * width + x;
        tile[ty][tx] = in[i];
        if (threadIdx.x == 0 && x > 0) tile[ty][0] = in[i - 1];
        if (threadIdx.x == SIDE - 1 && x < width - 1) tile[ty][SIDE + 1] = in[i + 1];
        if (threadIdx.y == 0 && y > 0) tile[0][tx] = in[i - width];
        if (threadIdx.y == SIDE - 1 && y < height - 1) tile[SIDE + 1][tx] = in[i + width];
    }
    __syncthreads();
    if (x < width && y < height) {
        float centre = tile[ty][tx];
        if (x > 0 && x < width - 1 && y > 0 && y < height - 1)
            centre += k * (tile[ty - 1][tx] + tile[ty + 1][tx] + tile[ty][tx - 1] + tile[ty][tx + 1] - 4.0f * centre);
        out[y * width + x] = centre;
    }
}

static double heat_at(size_t i) { return float_at((unsigned)i, 1, 0.0f, 100.0f); }

int main(int argc, char **argv)
{
    int n = bench_size(argc, argv, 64);
    size_t cells = (size_t)n * n;
    float *in = device_floats(cells, 1, 0.0f, 100.0f), *out = (float *)device_bytes(cells * 4);
    dim3 grid((n + SIDE - 1) / SIDE, (n + SIDE - 1) / SIDE), block(SIDE, SIDE);
    MEASURE(stencil2d<<<grid, block>>>(in, out, n, n, 0.2f));
    bool ok = true;
    for (int s = 0; s < SAMPLES; s++) {
        size_t i = sample(s, cells), x = i % n, y = i / n;
        double want = heat_at(i);
        if (x > 0 && x + 1 < (size_t)n && y > 0 && y + 1 < (size_t)n)
            want += 0.2 * (heat_at(i - n) + heat_at(i + n) + heat_at(i - 1) + heat_at(i + 1) - 4.0 * want);
        ok = ok && is_near(float_of(out, i), want, 1e-5);
    }
    int code = bench_end("stencil2d", ok, out, cells);
    CHECK(cudaFree(in));
    CHECK(cudaFree(out));
    return code;
}
