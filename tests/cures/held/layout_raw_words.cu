// alt: 1 | 2
// cure: wrong by a member more: the same struct is laid over the words of a buffer in global memory
// offered: none
#include <cstdio>
#include <cstdlib>
struct Quad { float a, b, c, d; };
__global__ void pick(const float *words, float *out, int part)
{
    __shared__ Quad q[64];
    int t = threadIdx.x;
    if (part == 0) {
        q[t].a = words[t]; q[t].b = words[64 + t]; q[t].c = 1; q[t].d = 0;
    } else {
        q[t] = reinterpret_cast<const Quad *>(words)[t];
    }
    __syncthreads();
    out[t] = q[63 - t].a + 2 * q[63 - t].b;
    if (part == 2) out[t] += q[(t + 1) % 64].d;
}
int main(int argc, char **argv)
{
    int part = argc > 1 ? atoi(argv[1]) : 0;
    float h[256], *w, *o;
    for (int i = 0; i < 256; i++) h[i] = i;
    cudaMalloc(&w, sizeof h); cudaMalloc(&o, 256);
    cudaMemcpy(w, h, sizeof h, cudaMemcpyHostToDevice);
    pick<<<1, 64>>>(w, o, part);
    cudaMemcpy(h, o, 256, cudaMemcpyDeviceToHost);
    for (int i = 0; i < 64; i++) printf("%g ", h[i]);
    printf("\n");
    cudaFree(w); cudaFree(o);
}
