// What every feature program checks with: each thread leaves an int in `out`, and the host compares it with what `t` should have left.
#include <stdio.h>
#include <stdlib.h>

#define CHECK_EACH(threads, want, ...)                                                            \
    do {                                                                                          \
        int *out, host[1024];                                                                     \
        cudaMalloc(&out, sizeof host);                                                            \
        cudaMemset(out, 0xff, sizeof host);                                                       \
        __VA_ARGS__;                                                                              \
        cudaError_t status = cudaDeviceSynchronize();                                             \
        if (status == cudaSuccess) status = cudaGetLastError();                                   \
        if (status != cudaSuccess) {                                                              \
            printf("%s:%d: %s\n", __FILE__, __LINE__, cudaGetErrorString(status));                \
            exit(1);                                                                              \
        }                                                                                         \
        cudaMemcpy(host, out, sizeof host, cudaMemcpyDeviceToHost);                               \
        for (int t = 0; t < (threads); t++)                                                       \
            if (host[t] != (int)(want)) {                                                         \
                printf("%s:%d: thread %d: %d, not %d\n", __FILE__, __LINE__, t, host[t], (int)(want)); \
                exit(1);                                                                          \
            }                                                                                     \
        cudaFree(out);                                                                            \
    } while (0)

#define CHECK_HOST(condition)                                                                     \
    do {                                                                                          \
        if (!(condition)) {                                                                       \
            printf("%s:%d: not so: %s\n", __FILE__, __LINE__, #condition);                        \
            exit(1);                                                                              \
        }                                                                                         \
    } while (0)
