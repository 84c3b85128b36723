// physics: exp, sin and log in double precision, a sum of damped oscillations
// large: 2097152
#include "bench.h"

#define TERMS 16

__global__ void double_math(const float *x, double *out, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    double t = x[i], sum = 0.0;
    for (int k = 1; k <= TERMS; k++) sum += exp(-0.1 * k * t) * sin(k * t + 0.5) + log(1.0 + k * t * t);
    out[i] = sum;
}

int main(int argc, char **argv)
{
    int n = bench_size(argc, argv, 512);
    float *x = device_floats(n, 1, 0.0f, 20.0f);
    double *out = (double *)device_bytes((size_t)n * 8);
    MEASURE(double_math<<<(n + 255) / 256, 256>>>(x, out, n));
    bool ok = true;
    for (int s = 0; s < SAMPLES; s++) {
        size_t i = sample(s, n);
        double t = float_at((unsigned)i, 1, 0.0f, 20.0f), want = 0.0, got;
        for (int k = 1; k <= TERMS; k++) want += exp(-0.1 * k * t) * sin(k * t + 0.5) + log(1.0 + k * t * t);
        CHECK(cudaMemcpy(&got, out + i, 8, cudaMemcpyDeviceToHost));
        ok = ok && is_near(got, want, 1e-12);
    }
    int code = bench_end("double_math", ok, out, (size_t)n * 2);
    CHECK(cudaFree(x));
    CHECK(cudaFree(out));
    return code;
}
