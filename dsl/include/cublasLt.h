/* cuBLASLt: its types and its handle. Programs that make a handle and use cuBLAS alone run; its other functions are not declared, so
   that a program which calls them does not compile. */
#ifndef DSLC_CUBLASLT_H
#define DSLC_CUBLASLT_H

#include "cublas_v2.h"

typedef struct cublasLtContext *cublasLtHandle_t;
typedef struct { unsigned long long data[8]; } cublasLtMatmulAlgo_t;
typedef struct cublasLtMatmulDescOpaque *cublasLtMatmulDesc_t;
typedef struct cublasLtMatrixLayoutOpaque *cublasLtMatrixLayout_t;
typedef struct cublasLtMatmulPreferenceOpaque *cublasLtMatmulPreference_t;

static inline cublasStatus_t cublasLtCreate(cublasLtHandle_t *handle)
{
    /* Never looked at. */
    static char none;
    *handle = (cublasLtHandle_t)&none;
    return CUBLAS_STATUS_SUCCESS;
}

static inline cublasStatus_t cublasLtDestroy(cublasLtHandle_t handle)
{
    return handle ? CUBLAS_STATUS_SUCCESS : CUBLAS_STATUS_NOT_INITIALIZED;
}

#endif
