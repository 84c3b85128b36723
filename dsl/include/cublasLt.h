/* cuBLASLt: its types, and the call with which a program finds that it is not there. */
#ifndef DSLC_CUBLASLT_H
#define DSLC_CUBLASLT_H

#include <stdio.h>

#include "cublas_v2.h"

typedef struct cublasLtContext *cublasLtHandle_t;
typedef struct { unsigned long long data[8]; } cublasLtMatmulAlgo_t;
typedef struct cublasLtMatmulDescOpaque *cublasLtMatmulDesc_t;
typedef struct cublasLtMatrixLayoutOpaque *cublasLtMatrixLayout_t;
typedef struct cublasLtMatmulPreferenceOpaque *cublasLtMatmulPreference_t;

static inline cublasStatus_t cublasLtCreate(cublasLtHandle_t *handle)
{
    *handle = 0;
    fputs("dslc: cublasLtCreate: cuBLASLt is not supported; cublasSgemm and its like of cuBLAS are\n", stderr);
    return CUBLAS_STATUS_NOT_SUPPORTED;
}

static inline cublasStatus_t cublasLtDestroy(cublasLtHandle_t handle)
{
    return handle ? CUBLAS_STATUS_NOT_SUPPORTED : CUBLAS_STATUS_SUCCESS;
}

#endif
