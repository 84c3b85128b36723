// finance: Black and Scholes' prices of European options
// large: 16777216
#include "bench.h"

__device__ inline float normal(float d)
{
    const float a1 = 0.31938153f, a2 = -0.356563782f, a3 = 1.781477937f, a4 = -1.821255978f, a5 = 1.330274429f;
    float k = 1.0f / (1.0f + 0.2316419f * fabsf(d));
    float tail = 0.39894228040143267794f * expf(-0.5f * d * d) * (k * (a1 + k * (a2 + k * (a3 + k * (a4 + k * a5)))));
    return d > 0.0f ? 1.0f - tail : tail;
}

__global__ void black_scholes(float *calls, float *puts, const float *prices, const float *strikes, const float *years, float rate,
                              float volatility, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    float s = prices[i], x = strikes[i], t = years[i];
    float root = sqrtf(t);
    float d1 = (logf(s / x) + (rate + 0.5f * volatility * volatility) * t) / (volatility * root);
    float d2 = d1 - volatility * root;
    float discounted = x * expf(-rate * t);
    calls[i] = s * normal(d1) - discounted * normal(d2);
    puts[i] = discounted * (1.0f - normal(d2)) - s * (1.0f - normal(d1));
}

int main(int argc, char **argv)
{
    int n = bench_size(argc, argv, 1024);
    float *prices = device_floats(n, 1, 5.0f, 30.0f), *strikes = device_floats(n, 2, 1.0f, 100.0f), *years = device_floats(n, 3, 0.25f, 10.0f);
    float *results = (float *)device_bytes((size_t)n * 8), rate = 0.02f, volatility = 0.3f;
    MEASURE(black_scholes<<<(n + 255) / 256, 256>>>(results, results + n, prices, strikes, years, rate, volatility, n));
    bool ok = true;
    for (int k = 0; k < SAMPLES; k++) {
        unsigned i = (unsigned)sample(k, n);
        double s = float_at(i, 1, 5.0f, 30.0f), x = float_at(i, 2, 1.0f, 100.0f), t = float_at(i, 3, 0.25f, 10.0f);
        double d1 = (log(s / x) + (rate + 0.5 * volatility * volatility) * t) / (volatility * sqrt(t)), d2 = d1 - volatility * sqrt(t);
        double n1 = 0.5 * erfc(-d1 / sqrt(2.0)), n2 = 0.5 * erfc(-d2 / sqrt(2.0)), discounted = x * exp(-rate * t);
        ok = ok && is_near(float_of(results, i), s * n1 - discounted * n2, 2e-4);
        ok = ok && is_near(float_of(results, n + i), discounted * (1.0 - n2) - s * (1.0 - n1), 2e-4);
    }
    int code = bench_end("black_scholes", ok, results, (size_t)n * 2);
    float *all[] = {prices, strikes, years, results};
    for (int i = 0; i < 4; i++) CHECK(cudaFree(all[i]));
    return code;
}
