// signals: how far a phase turns over a series of samples, by atan2f
// large: 1048576
#include "bench.h"

#define STEPS 32

__global__ void atan2f_loop(const float *re, const float *im, float *out, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    float x = re[i], y = im[i], turned = 0.0f;
    for (int t = 1; t < STEPS; t++) {
        float nx = re[t * n + i], ny = im[t * n + i];
        turned += atan2f(x * ny - y * nx, x * nx + y * ny);
        x = nx;
        y = ny;
    }
    out[i] = turned;
}

int main(int argc, char **argv)
{
    int n = bench_size(argc, argv, 256);
    float *re = device_floats((size_t)n * STEPS, 1, -1.0f, 1.0f), *im = device_floats((size_t)n * STEPS, 2, -1.0f, 1.0f);
    float *out = (float *)device_bytes((size_t)n * 4);
    MEASURE(atan2f_loop<<<(n + 255) / 256, 256>>>(re, im, out, n));
    bool ok = true;
    for (int s = 0; s < SAMPLES; s++) {
        unsigned i = (unsigned)sample(s, n);
        double x = float_at(i, 1, -1.0f, 1.0f), y = float_at(i, 2, -1.0f, 1.0f), turned = 0.0;
        for (int t = 1; t < STEPS; t++) {
            double nx = float_at(t * n + i, 1, -1.0f, 1.0f), ny = float_at(t * n + i, 2, -1.0f, 1.0f);
            turned += atan2(x * ny - y * nx, x * nx + y * ny);
            x = nx;
            y = ny;
        }
        ok = ok && is_near(float_of(out, i), turned, 1e-4);
    }
    int code = bench_end("atan2f_loop", ok, out, n);
    CHECK(cudaFree(re));
    CHECK(cudaFree(im));
    CHECK(cudaFree(out));
    return code;
}
