// finance: the present value of payments, each discounted by powf
// large: 1048576
#include "bench.h"

#define PAYMENTS 40

__global__ void powf_loop(const float *rates, const float *amounts, float *out, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    float rate = rates[i], value = 0.0f;
    for (int k = 0; k < PAYMENTS; k++) value += amounts[k] / powf(1.0f + rate, 0.5f * (k + 1));
    out[i] = value;
}

int main(int argc, char **argv)
{
    int n = bench_size(argc, argv, 512);
    float *rates = device_floats(n, 1, 0.01f, 0.15f), *amounts = device_floats(PAYMENTS, 2, 1.0f, 3.0f), *out = (float *)device_bytes((size_t)n * 4);
    MEASURE(powf_loop<<<(n + 255) / 256, 256>>>(rates, amounts, out, n));
    bool ok = true;
    for (int s = 0; s < SAMPLES; s++) {
        size_t i = sample(s, n);
        double base = 1.0f + float_at((unsigned)i, 1, 0.01f, 0.15f), want = 0.0;
        for (int k = 0; k < PAYMENTS; k++) want += float_at(k, 2, 1.0f, 3.0f) / pow(base, 0.5 * (k + 1));
        ok = ok && is_near(float_of(out, i), want, 1e-5);
    }
    int code = bench_end("powf_loop", ok, out, n);
    CHECK(cudaFree(rates));
    CHECK(cudaFree(amounts));
    CHECK(cudaFree(out));
    return code;
}
