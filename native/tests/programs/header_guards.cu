// Helper headers of collections ask for the guards of CUDA's own headers, to know which of a library's errors to name.
#include <cublas_v2.h>
#include <cufft.h>
#include <curand.h>
#include <cusolverDn.h>
#include <cusparse.h>
#include <cstdio>

#if !defined __DRIVER_TYPES_H__ || !defined __CUDA_RUNTIME_H__ || !defined CUBLAS_API_H_ || !defined _CUFFT_H_ || !defined CURAND_H_ || \
    !defined CUSPARSEAPI || !defined CUSOLVER_COMMON_H_
#error a guard is missing
#endif

static const char *name(cudaError_t) { return "runtime"; }
static const char *name(cublasStatus_t) { return "cuBLAS"; }
static const char *name(cufftResult) { return "cuFFT"; }
static const char *name(curandStatus_t) { return "cuRAND"; }
static const char *name(cusolverStatus_t) { return "cuSOLVER"; }
static const char *name(cusparseStatus_t) { return "cuSPARSE"; }

int main()
{
    printf("%s %s %s %s %s %s\n", name(cudaSuccess), name(CUBLAS_STATUS_SUCCESS), name(CUFFT_SUCCESS), name(CURAND_STATUS_SUCCESS),
           name(CUSOLVER_STATUS_SUCCESS), name(CUSPARSE_STATUS_SUCCESS));
}
