#include "plugin.h"
#include <cstdio>
#include <cstdlib>
#include <dlfcn.h>
__global__ void fill(float *p, int n) { int i = threadIdx.x; if (i < n) p[i] = i; }
int main(int argc, char **argv)
{
    float host[100], *d;
    cudaMalloc(&d, sizeof host);
    fill<<<1, 128>>>(d, 100);
    cudaMemcpy(host, d, sizeof host, cudaMemcpyDeviceToHost);
    cudaFree(d);
    for (int i = 1; i < argc; i++) {
        void *lib = dlopen(argv[i], RTLD_NOW | RTLD_LOCAL);
        if (!lib) { fprintf(stderr, "%s\n", dlerror()); return 2; }
        auto name = (const char *(*)(void))dlsym(lib, "plugin_name");
        auto f = (transform_fn)dlsym(lib, "plugin_transform");
        int count = f(host, 100, 3.f);
        printf("%s: %d, last %g\n", name(), count, host[99]);
        if (count != 100) return 3;
        if (i == 1) dlclose(lib);
    }
    return host[99] == 99 * 3 + 3 && host[0] == 3 ? 0 : 1;
}
