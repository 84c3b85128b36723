#include <cinttypes>
#include <cstdio>
#include <cstdlib>

struct Pair {
    int x, y;
};

__global__ void twice(float *v, int n)
{
    register int i = threadIdx.x;
    if (i < n) v[i] *= 2;
}

// No return: its callers do not look at what it gives.
int init(float *v, int n)
{
    for (int i = 0; i < n; ++i) v[i] = i;
}

bool is_twice(const float *v, int n)
{
    for (int i = 0; i < n; ++i)
        if (v[i] != 2 * i) {
            printf("bad at %d\n", i);
            return false;
        }
}

// An array of a length that is known when it runs, of zeros.
int distinct(const int *of, int n, int most)
{
    int seen[most] = {0}, count = 0;
    float weights[most][2] = {};
    for (int i = 0; i < n; i++) {
        count += seen[of[i]]++ == 0 && weights[of[i]][1] == 0;
        weights[of[i]][0] = 1;
    }
    return count;
}

int main(int argc, char **argv)
{
    size_t n = 32;
    double half = 2.5;
    long one = argc;
    int dims[] = {n, half, one};
    Pair pair{half, one};
    register int three = 3;
    char *text = "text";
    uint64_t big = 5;
    printf("%"PRIu64" %d %d %s\n", big, dims[0] + three, pair.x, text);
    int m = argc + 31;
    float host[m], *device;
    init(host, m);
    cudaMalloc((void **)&device, sizeof(host));
    cudaMemcpy(device, host, sizeof(host), cudaMemcpyHostToDevice);
    twice<<<1, n>>>(device, m);
    cudaMemcpy(host, device, sizeof(host), cudaMemcpyDeviceToHost);
    is_twice(host, m);
    cudaFree(device);
    int of[] = {3, 1, 3, 2};
    printf("%g %d\n", host[31], distinct(of, 4, 4));
}
