// images: a bilateral filter of 9 x 9 pixels, which keeps edges
// large: 2048
#include "bench.h"

#define RADIUS 4

__global__ void bilateral(const float *in, float *out, int width, int height, float space, float range)
{
    int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
    if (x >= width || y >= height) return;
    float centre = in[y * width + x], sum = 0.0f, weights = 0.0f;
    for (int j = -RADIUS; j <= RADIUS; j++) {
        for (int i = -RADIUS; i <= RADIUS; i++) {
            int px = min(max(x + i, 0), width - 1), py = min(max(y + j, 0), height - 1);
            float value = in[py * width + px], difference = value - centre;
            float weight = __expf(-(i * i + j * j) / (2.0f * space * space) - difference * difference / (2.0f * range * range));
            sum += weight * value;
            weights += weight;
        }
    }
    out[y * width + x] = sum / weights;
}

int main(int argc, char **argv)
{
    int n = bench_size(argc, argv, 32);
    size_t cells = (size_t)n * n;
    float *in = device_floats(cells, 1, 0.0f, 1.0f), *out = (float *)device_bytes(cells * 4), space = 3.0f, range = 0.25f;
    dim3 grid((n + 15) / 16, (n + 15) / 16), block(16, 16);
    MEASURE(bilateral<<<grid, block>>>(in, out, n, n, space, range));
    bool ok = true;
    for (int s = 0; s < SAMPLES; s++) {
        size_t at = sample(s, cells);
        int x = (int)(at % n), y = (int)(at / n);
        double centre = float_at((unsigned)at, 1, 0.0f, 1.0f), sum = 0.0, weights = 0.0;
        for (int j = -RADIUS; j <= RADIUS; j++)
            for (int i = -RADIUS; i <= RADIUS; i++) {
                int px = x + i < 0 ? 0 : x + i >= n ? n - 1 : x + i, py = y + j < 0 ? 0 : y + j >= n ? n - 1 : y + j;
                double value = float_at(py * n + px, 1, 0.0f, 1.0f), d = value - centre;
                double weight = exp(-(i * i + j * j) / (2.0 * space * space) - d * d / (2.0 * range * range));
                sum += weight * value;
                weights += weight;
            }
        ok = ok && is_near(float_of(out, at), sum / weights, 1e-4);
    }
    int code = bench_end("bilateral", ok, out, cells);
    CHECK(cudaFree(in));
    CHECK(cudaFree(out));
    return code;
}
