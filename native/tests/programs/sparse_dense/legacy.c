/* cuBLAS's first interface, in C. */
#include <cublas.h>
#include <stdio.h>

int legacy(void)
{
    float a[4] = {1, 2, 3, 4}, x[2] = {1, -1}, back[2], *da, *dx, *dy;
    cublasInit();
    cublasAlloc(4, sizeof(float), (void **)&da);
    cublasAlloc(2, sizeof(float), (void **)&dx);
    cublasAlloc(2, sizeof(float), (void **)&dy);
    cublasSetMatrix(2, 2, sizeof(float), a, 2, da, 2);
    cublasSetVector(2, sizeof(float), x, 1, dx, 1);
    cublasSgemv('n', 2, 2, 2.0f, da, 2, dx, 1, 0.0f, dy, 1);
    cublasSaxpy(2, 10.0f, dx, 1, dy, 1);
    cublasGetVector(2, sizeof(float), dy, 1, back, 1);
    printf("%g %g, dot %g, largest %d\n", back[0], back[1], cublasSdot(2, dx, 1, dy, 1), cublasIsamax(2, dy, 1));
    cublasSgemm('n', 't', 2, 2, 2, 1.0f, da, 2, da, 2, 0.0f, da, -1);
    printf("error %u, then %u\n", cublasGetError(), cublasGetError());
    cublasFree(da);
    return cublasShutdown();
}
