// stencils: one of Jacobi's steps for Poisson's equation in three dimensions, a thread a cell
// large: 384
#include "bench.h"

#define IDX(x, y, z) (((z) * n + (y)) * n + (x))

__global__ void jacobi3d(const float *u, const float *f, float *next, int n, float h2)
{
    int x = blockIdx.x * blockDim.x + threadIdx.x;
    int y = blockIdx.y * blockDim.y + threadIdx.y;
    int z = blockIdx.z * blockDim.z + threadIdx.z;
    if (x > 0 && y > 0 && z > 0 && x < n - 1 && y < n - 1 && z < n - 1)
        next[IDX(x, y, z)] = (u[IDX(x - 1, y, z)] + u[IDX(x + 1, y, z)] + u[IDX(x, y - 1, z)] + u[IDX(x, y + 1, z)] + u[IDX(x, y, z - 1)] +
                              u[IDX(x, y, z + 1)] - h2 * f[IDX(x, y, z)]) / 6.0f;
}

static double u_at(int i) { return float_at(i, 1, -1.0f, 1.0f); }

int main(int argc, char **argv)
{
    int n = bench_size(argc, argv, 16);
    size_t cells = (size_t)n * n * n;
    float *u = device_floats(cells, 1, -1.0f, 1.0f), *f = device_floats(cells, 2, -1.0f, 1.0f), *next = (float *)device_bytes(cells * 4);
    dim3 block(32, 4, 2), grid((n + 31) / 32, (n + 3) / 4, (n + 1) / 2);
    MEASURE(jacobi3d<<<grid, block>>>(u, f, next, n, 0.25f));
    bool ok = true;
    for (int s = 0; s < SAMPLES; s++) {
        int x = (int)sample(s, n), y = word_at(s, 7) % n, z = word_at(s, 8) % n, i = IDX(x, y, z);
        double want = 0.0;
        if (x > 0 && y > 0 && z > 0 && x < n - 1 && y < n - 1 && z < n - 1)
            want = (u_at(i - 1) + u_at(i + 1) + u_at(i - n) + u_at(i + n) + u_at(i - n * n) + u_at(i + n * n) -
                    0.25 * float_at(i, 2, -1.0f, 1.0f)) / 6.0;
        ok = ok && is_near(float_of(next, i), want, 1e-6);
    }
    int code = bench_end("jacobi3d", ok, next, cells);
    CHECK(cudaFree(u));
    CHECK(cudaFree(f));
    CHECK(cudaFree(next));
    return code;
}
