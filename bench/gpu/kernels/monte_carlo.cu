// finance: an Asian option by paths of random steps, with xorshift and Box and Muller's method
// large: 1048576
#include "bench.h"

#define STEPS 32

__global__ void monte_carlo(float *payoffs, int paths, float s0, float strike, float rate, float volatility, float years)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= paths) return;
    unsigned state = word_at(i, 1) | 1u;
    float dt = years / STEPS, drift = (rate - 0.5f * volatility * volatility) * dt, diffusion = volatility * sqrtf(dt);
    float price = s0, sum = 0.0f;
    for (int step = 0; step < STEPS; step += 2) {
        state ^= state << 13;
        state ^= state >> 17;
        state ^= state << 5;
        float u1 = ((state >> 8) + 1) * (1.0f / 16777216.0f);
        state ^= state << 13;
        state ^= state >> 17;
        state ^= state << 5;
        float u2 = (state >> 8) * (1.0f / 16777216.0f);
        float radius = sqrtf(-2.0f * logf(u1)), angle = 6.2831853f * u2;
        price *= expf(drift + diffusion * radius * cosf(angle));
        sum += price;
        price *= expf(drift + diffusion * radius * sinf(angle));
        sum += price;
    }
    payoffs[i] = expf(-rate * years) * fmaxf(sum / STEPS - strike, 0.0f);
}

static double payoff_of(unsigned i, double s0, double strike, double rate, double volatility, double years)
{
    unsigned state = word_at(i, 1) | 1u;
    double dt = years / STEPS, price = s0, sum = 0.0, u[2];
    for (int step = 0; step < STEPS; step += 2) {
        for (int k = 0; k < 2; k++) {
            state ^= state << 13;
            state ^= state >> 17;
            state ^= state << 5;
            u[k] = ((state >> 8) + (k == 0)) / 16777216.0;
        }
        double radius = sqrt(-2.0 * log(u[0])), angle = 6.283185307179586 * u[1];
        price *= exp((rate - 0.5 * volatility * volatility) * dt + volatility * sqrt(dt) * radius * cos(angle));
        sum += price;
        price *= exp((rate - 0.5 * volatility * volatility) * dt + volatility * sqrt(dt) * radius * sin(angle));
        sum += price;
    }
    double gain = sum / STEPS - strike;
    return exp(-rate * years) * (gain > 0.0 ? gain : 0.0);
}

int main(int argc, char **argv)
{
    int n = bench_size(argc, argv, 512);
    float *payoffs = (float *)device_bytes((size_t)n * 4);
    MEASURE(monte_carlo<<<(n + 255) / 256, 256>>>(payoffs, n, 100.0f, 95.0f, 0.03f, 0.25f, 1.0f));
    bool ok = true;
    for (int s = 0; s < SAMPLES; s++) {
        unsigned i = (unsigned)sample(s, n);
        ok = ok && is_near(float_of(payoffs, i) + 100.0, payoff_of(i, 100.0, 95.0, 0.03f, 0.25, 1.0) + 100.0, 1e-4);
    }
    int code = bench_end("monte_carlo", ok, payoffs, n);
    CHECK(cudaFree(payoffs));
    return code;
}
