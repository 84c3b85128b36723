// neural networks: a recurrent cell of tanhf for each series
// large: 1048576
#include "bench.h"

#define STEPS 64

__global__ void tanhf_loop(const float *inputs, float *out, int n, float w, float u, float bias)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    float h = 0.0f;
    for (int t = 0; t < STEPS; t++) h = tanhf(w * inputs[t * n + i] + u * h + bias);
    out[i] = h;
}

int main(int argc, char **argv)
{
    int n = bench_size(argc, argv, 256);
    float *inputs = device_floats((size_t)n * STEPS, 1, -2.0f, 2.0f), *out = (float *)device_bytes((size_t)n * 4);
    float w = 0.9f, u = -0.7f, bias = 0.1f;
    MEASURE(tanhf_loop<<<(n + 255) / 256, 256>>>(inputs, out, n, w, u, bias));
    bool ok = true;
    for (int s = 0; s < SAMPLES; s++) {
        unsigned i = (unsigned)sample(s, n);
        double h = 0.0;
        for (int t = 0; t < STEPS; t++) h = tanh((double)w * float_at(t * n + i, 1, -2.0f, 2.0f) + u * h + bias);
        ok = ok && is_near(float_of(out, i), h, 1e-5);
    }
    int code = bench_end("tanhf_loop", ok, out, n);
    CHECK(cudaFree(inputs));
    CHECK(cudaFree(out));
    return code;
}
