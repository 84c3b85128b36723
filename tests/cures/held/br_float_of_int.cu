// alt: 16777217 | 123456789 | -33554433
// cure: wrong because `c ? int : float` is a float: large integers lose digits on their way to the double
// offered: none
#include <cstdio>
#include <cstdlib>
struct Samples { int ticks[64]; float volts[64]; };
__global__ void to_double(const Samples *s, double *d)
{
    const unsigned i = threadIdx.x;
    const int ticks = s->ticks[i];
    const float volts = s->volts[i];
    if (i % 2 == 0) {
        d[i] = ticks;
    } else {
        d[i] = volts;
    }
}
int main(int argc, char **argv)
{
    int first = argc > 1 ? atoi(argv[1]) : 0;
    Samples h, *s;
    double r[64], *d;
    for (int i = 0; i < 64; i++) { h.ticks[i] = first + i; h.volts[i] = i * 0.125f; }
    cudaMalloc(&s, sizeof h); cudaMalloc(&d, sizeof r);
    cudaMemcpy(s, &h, sizeof h, cudaMemcpyHostToDevice);
    to_double<<<1, 64>>>(s, d);
    cudaMemcpy(r, d, sizeof r, cudaMemcpyDeviceToHost);
    for (double v : r) printf("%.3f ", v);
    printf("\n");
    cudaFree(s); cudaFree(d);
}
