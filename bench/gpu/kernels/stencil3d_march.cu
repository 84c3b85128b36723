// stencils: 25 points in three dimensions; a block marches in z with the column in registers and the plane in shared memory
// large: 512
#include "bench.h"

#define RADIUS 4
#define BX 32
#define BY 16

__constant__ float weights[RADIUS + 1];

__global__ void stencil3d_march(const float *in, float *out, int nx, int ny, int nz)
{
    __shared__ float tile[BY + 2 * RADIUS][BX + 2 * RADIUS];
    int x = blockIdx.x * BX + threadIdx.x, y = blockIdx.y * BY + threadIdx.y;
    int tx = threadIdx.x + RADIUS, ty = threadIdx.y + RADIUS;
    int stride = nx * ny, i = y * nx + x;
    bool inner = x >= RADIUS && x < nx - RADIUS && y >= RADIUS && y < ny - RADIUS;
    float behind[RADIUS], front[RADIUS], current;
    for (int k = 0; k < RADIUS; k++) behind[RADIUS - 1 - k] = in[i + k * stride];
    current = in[i + RADIUS * stride];
    for (int k = 0; k < RADIUS; k++) front[k] = in[i + (RADIUS + 1 + k) * stride];
    int at = i + RADIUS * stride;
    for (int z = RADIUS; z < nz - RADIUS; z++) {
        __syncthreads();
        if (threadIdx.y < RADIUS) {
            tile[threadIdx.y][tx] = y >= RADIUS ? in[at - RADIUS * nx] : 0.0f;
            tile[threadIdx.y + BY + RADIUS][tx] = y + BY < ny ? in[at + BY * nx] : 0.0f;
        }
        if (threadIdx.x < RADIUS) {
            tile[ty][threadIdx.x] = x >= RADIUS ? in[at - RADIUS] : 0.0f;
            tile[ty][threadIdx.x + BX + RADIUS] = x + BX < nx ? in[at + BX] : 0.0f;
        }
        tile[ty][tx] = current;
        __syncthreads();
        float value = weights[0] * current;
#pragma unroll
        for (int r = 1; r <= RADIUS; r++)
            value += weights[r] * (front[r - 1] + behind[r - 1] + tile[ty - r][tx] + tile[ty + r][tx] + tile[ty][tx - r] + tile[ty][tx + r]);
        if (inner) out[at] = value;
        for (int k = RADIUS - 1; k > 0; k--) behind[k] = behind[k - 1];
        behind[0] = current;
        current = front[0];
        for (int k = 0; k < RADIUS - 1; k++) front[k] = front[k + 1];
        at += stride;
        if (z + RADIUS + 1 < nz) front[RADIUS - 1] = in[at + RADIUS * stride];
    }
}

int main(int argc, char **argv)
{
    int n = bench_size(argc, argv, 32);
    size_t cells = (size_t)n * n * n;
    float *in = device_floats(cells, 1, -1.0f, 1.0f), *out = (float *)device_bytes(cells * 4);
    const float host[RADIUS + 1] = {-2.5f, 0.8f, -0.2f, 0.04f, -0.005f};
    CHECK(cudaMemcpyToSymbol(weights, host, sizeof host));
    dim3 grid(n / BX, n / BY), block(BX, BY);
    MEASURE(stencil3d_march<<<grid, block>>>(in, out, n, n, n));
    bool ok = true;
    int inside = 0;
    for (int s = 0; s < 4 * SAMPLES; s++) {
        size_t x = sample(s % SAMPLES, n), y = word_at(s, 7) % n, z = word_at(s, 8) % n, i = (z * n + y) * n + x;
        size_t low = RADIUS, high = n - RADIUS;
        double want = 0.0;
        if (x >= low && x < high && y >= low && y < high && z >= low && z < high) {
            inside++;
            want = (double)host[0] * float_at((unsigned)i, 1, -1.0f, 1.0f);
            size_t steps[3] = {1, (size_t)n, (size_t)n * n};
            for (int d = 0; d < 3; d++)
                for (int r = 1; r <= RADIUS; r++)
                    want += (double)host[r] * ((double)float_at((unsigned)(i + r * steps[d]), 1, -1.0f, 1.0f) +
                                               float_at((unsigned)(i - r * steps[d]), 1, -1.0f, 1.0f));
        }
        ok = ok && is_near(float_of(out, i), want, 1e-5);
    }
    int code = bench_end("stencil3d_march", ok && inside > 0, out, cells);
    CHECK(cudaFree(in));
    CHECK(cudaFree(out));
    return code;
}
