// signals: a sum of sines and cosines for each sample, by sincosf
// large: 1048576
#include "bench.h"

#define TONES 64

__global__ void sincosf_loop(const float *times, const float *frequencies, const float *amplitudes, float2 *out, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    float t = times[i], re = 0.0f, im = 0.0f;
    for (int k = 0; k < TONES; k++) {
        float s, c;
        sincosf(frequencies[k] * t, &s, &c);
        re += amplitudes[k] * c;
        im += amplitudes[k] * s;
    }
    out[i] = make_float2(re, im);
}

int main(int argc, char **argv)
{
    int n = bench_size(argc, argv, 512);
    float *times = device_floats(n, 1, 0.0f, 10.0f), *frequencies = device_floats(TONES, 2, 0.5f, 50.0f);
    float *amplitudes = device_floats(TONES, 3, 0.0f, 1.0f), *out = (float *)device_bytes((size_t)n * 8);
    MEASURE(sincosf_loop<<<(n + 255) / 256, 256>>>(times, frequencies, amplitudes, (float2 *)out, n));
    bool ok = true;
    for (int s = 0; s < SAMPLES; s++) {
        size_t i = sample(s, n);
        double re = 0.0, im = 0.0;
        for (int k = 0; k < TONES; k++) {
            float angle = float_at(k, 2, 0.5f, 50.0f) * float_at((unsigned)i, 1, 0.0f, 10.0f);
            re += float_at(k, 3, 0.0f, 1.0f) * cos((double)angle);
            im += float_at(k, 3, 0.0f, 1.0f) * sin((double)angle);
        }
        ok = ok && is_near(float_of(out, 2 * i), re, 1e-4) && is_near(float_of(out, 2 * i + 1), im, 1e-4);
    }
    int code = bench_end("sincosf_loop", ok, out, (size_t)n * 2);
    float *all[] = {times, frequencies, amplitudes, out};
    for (int i = 0; i < 4; i++) CHECK(cudaFree(all[i]));
    return code;
}
