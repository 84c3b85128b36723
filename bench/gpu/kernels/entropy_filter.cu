// images: the entropy of the 5 x 5 pixels around each, from a histogram in the thread's own array
// large: 2048
#include "bench.h"

#define RADIUS 2
#define LEVELS 16

__global__ void entropy_filter(const unsigned char *in, float *out, int width, int height)
{
    int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
    if (x >= width || y >= height) return;
    int counts[LEVELS] = {0}, total = 0;
    for (int j = -RADIUS; j <= RADIUS; j++)
        for (int i = -RADIUS; i <= RADIUS; i++) {
            int px = x + i, py = y + j;
            if (px >= 0 && px < width && py >= 0 && py < height) {
                counts[in[py * width + px] >> 4]++;
                total++;
            }
        }
    float entropy = 0.0f;
    for (int k = 0; k < LEVELS; k++)
        if (counts[k] > 0) {
            float p = (float)counts[k] / total;
            entropy -= p * logf(p);
        }
    out[y * width + x] = entropy;
}

static int level_at(size_t i) { return (word_at((unsigned)i / 4, 1) >> 8 * (i % 4) & 255) >> 4; }

int main(int argc, char **argv)
{
    int n = bench_size(argc, argv, 32);
    size_t cells = (size_t)n * n;
    unsigned char *in = (unsigned char *)device_words(cells / 4, 1);
    float *out = (float *)device_bytes(cells * 4);
    dim3 grid((n + 15) / 16, (n + 15) / 16), block(16, 16);
    MEASURE(entropy_filter<<<grid, block>>>(in, out, n, n));
    bool ok = true;
    for (int s = 0; s < SAMPLES; s++) {
        size_t at = sample(s, cells);
        int x = (int)(at % n), y = (int)(at / n), counts[LEVELS] = {0}, total = 0;
        for (int py = y - RADIUS; py <= y + RADIUS; py++)
            for (int px = x - RADIUS; px <= x + RADIUS; px++)
                if (px >= 0 && px < n && py >= 0 && py < n) {
                    counts[level_at((size_t)py * n + px)]++;
                    total++;
                }
        double want = 0.0;
        for (int k = 0; k < LEVELS; k++)
            if (counts[k] > 0) want -= (double)counts[k] / total * log((double)counts[k] / total);
        ok = ok && is_near(float_of(out, at), want, 1e-5);
    }
    int code = bench_end("entropy_filter", ok, out, cells);
    CHECK(cudaFree(in));
    CHECK(cudaFree(out));
    return code;
}
