// Headers that programs include without need: NVTX, cuBLASLt's handle; cuRAND's host functions by the header for kernels.
#include <cublasLt.h>
#include <cstdio>
#include <curand_kernel.h>
#include <nvtx3/nvToolsExt.h>

__global__ void draw(float *out)
{
    curandState state;
    curand_init(7, threadIdx.x, 0, &state);
    out[threadIdx.x] = curand_uniform(&state);
}

int main()
{
    nvtxRangePushA("draw");
    float *out, host[32];
    cudaMalloc(&out, sizeof(host));
    draw<<<1, 32>>>(out);
    curandGenerator_t generator;
    curandCreateGenerator(&generator, CURAND_RNG_PSEUDO_DEFAULT);
    curandDestroyGenerator(generator);
    nvtxRangePop();
    cudaMemcpy(host, out, sizeof(host), cudaMemcpyDeviceToHost);
    cudaFree(out);
    cublasLtHandle_t handle;
    bool is_made = cublasLtCreate(&handle) == CUBLAS_STATUS_SUCCESS && cublasLtDestroy(handle) == CUBLAS_STATUS_SUCCESS;
    printf("%d %d\n", host[3] > 0 && host[3] <= 1, is_made);
}
