#include <cstdio>
#include <dlfcn.h>
__global__ void fill(int *p) { p[threadIdx.x] = threadIdx.x; }
int main()
{
    int host[64], *p;
    cudaMalloc(&p, sizeof host);
    fill<<<1, 64>>>(p);
    cudaMemcpy(host, p, sizeof host, cudaMemcpyDeviceToHost);
    void *library = dlopen("./libplugin.so", RTLD_NOW | RTLD_LOCAL);
    if (!library) return printf("%s\n", dlerror()), 2;
    auto add = (int (*)(int *, int))dlsym(library, "plugin_add");
    printf("plugin: %d, last %d\n", add(host, 64), host[63]);
    cudaMemcpy(p, host, sizeof host, cudaMemcpyHostToDevice);
    fill<<<1, 32>>>(p);
    cudaMemcpy(host, p, sizeof host, cudaMemcpyDeviceToHost);
    printf("%d %d, %s\n", host[31], host[63], cudaGetErrorString(cudaGetLastError()));
    cudaFree(p);
}
