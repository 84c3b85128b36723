// FFT: 1024 complex points in each block, radix 2 in shared memory, factors by __sincosf
// large: 16384
#include "bench.h"

#define POINTS 1024
#define BITS 10

__global__ void fft_shared(const float2 *in, float2 *out)
{
    __shared__ float2 data[POINTS];
    int tid = threadIdx.x, base = blockIdx.x * POINTS;
    data[__brev(tid) >> (32 - BITS)] = in[base + tid];
    data[__brev(tid + POINTS / 2) >> (32 - BITS)] = in[base + tid + POINTS / 2];
    for (int half = 1; half < POINTS; half *= 2) {
        __syncthreads();
        int k = tid % half, i = 2 * (tid - k) + k, j = i + half;
        float angle = -3.14159265358979f * k / half, s, c;
        __sincosf(angle, &s, &c);
        float2 a = data[i], b = data[j];
        float re = b.x * c - b.y * s, im = b.x * s + b.y * c;
        data[i] = make_float2(a.x + re, a.y + im);
        data[j] = make_float2(a.x - re, a.y - im);
    }
    __syncthreads();
    out[base + tid] = data[tid];
    out[base + tid + POINTS / 2] = data[tid + POINTS / 2];
}

int main(int argc, char **argv)
{
    int batches = bench_size(argc, argv, 4);
    size_t words = (size_t)batches * POINTS * 2;
    float *in = device_floats(words, 1, -1.0f, 1.0f), *out = (float *)device_bytes(words * 4);
    MEASURE(fft_shared<<<batches, POINTS / 2>>>((const float2 *)in, (float2 *)out));
    bool ok = true;
    for (int s = 0; s < 16; s++) {
        size_t at = sample(s, words / 2), batch = at / POINTS, k = at % POINTS;
        double re = 0.0, im = 0.0;
        for (int j = 0; j < POINTS; j++) {
            unsigned i = (unsigned)(batch * POINTS + j) * 2;
            double x = float_at(i, 1, -1.0f, 1.0f), y = float_at(i + 1, 1, -1.0f, 1.0f);
            double angle = -2.0 * 3.14159265358979323846 * (double)(k * j % POINTS) / POINTS, c = cos(angle), d = sin(angle);
            re += x * c - y * d;
            im += x * d + y * c;
        }
        ok = ok && is_near(float_of(out, 2 * at), re, 1e-3) && is_near(float_of(out, 2 * at + 1), im, 1e-3);
    }
    int code = bench_end("fft_shared", ok, out, words);
    CHECK(cudaFree(in));
    CHECK(cudaFree(out));
    return code;
}
