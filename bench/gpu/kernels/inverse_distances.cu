// physics: a field between stations, each weighted by a power of its distance
// large: 262144
#include "bench.h"

#define STATIONS 256

__global__ void inverse_distances(const float *sx, const float *sy, const float *values, const float *x, const float *y, float *out, int n,
                                  float power)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    float weights = 0.0f, sum = 0.0f;
    for (int k = 0; k < STATIONS; k++) {
        float dx = x[i] - sx[k], dy = y[i] - sy[k];
        float d = sqrtf(dx * dx + dy * dy) + 1e-6f;
        float w = 1.0f / powf(d, power);
        weights += w;
        sum += w * values[k];
    }
    out[i] = sum / weights;
}

int main(int argc, char **argv)
{
    int n = bench_size(argc, argv, 256);
    float *sx = device_floats(STATIONS, 1, 0.0f, 1.0f), *sy = device_floats(STATIONS, 2, 0.0f, 1.0f);
    float *values = device_floats(STATIONS, 3, -10.0f, 10.0f), *out = (float *)device_bytes((size_t)n * 4);
    float *x = device_floats(n, 4, 0.0f, 1.0f), *y = device_floats(n, 5, 0.0f, 1.0f);
    float power = 2.5f;
    MEASURE(inverse_distances<<<(n + 255) / 256, 256>>>(sx, sy, values, x, y, out, n, power));
    bool ok = true;
    for (int s = 0; s < 16; s++) {
        unsigned i = (unsigned)sample(s, n);
        double weights = 0.0, sum = 0.0;
        for (int k = 0; k < STATIONS; k++) {
            double dx = (double)float_at(i, 4, 0.0f, 1.0f) - float_at(k, 1, 0.0f, 1.0f);
            double dy = (double)float_at(i, 5, 0.0f, 1.0f) - float_at(k, 2, 0.0f, 1.0f);
            double w = 1.0 / pow(sqrt(dx * dx + dy * dy) + 1e-6, (double)power);
            weights += w;
            sum += w * float_at(k, 3, -10.0f, 10.0f);
        }
        ok = ok && is_near(float_of(out, i), sum / weights, 1e-3);
    }
    int code = bench_end("inverse_distances", ok, out, n);
    float *all[] = {sx, sy, values, x, y, out};
    for (int i = 0; i < 6; i++) CHECK(cudaFree(all[i]));
    return code;
}
