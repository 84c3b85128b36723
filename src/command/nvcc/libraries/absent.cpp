/* cuSPARSE and cuSOLVER: programs that name them build; a call says that they are not there. */
#include <cusolverDn.h>
#include <cusparse.h>

#include <cstdio>

extern "C" {

cusparseStatus_t cusparseCreate(cusparseHandle_t *handle) {
    *handle = nullptr;
    fputs("dslc: cuSPARSE is not there: cusparseCreate fails with CUSPARSE_STATUS_NOT_SUPPORTED\n", stderr);
    return CUSPARSE_STATUS_NOT_SUPPORTED;
}
cusparseStatus_t cusparseDestroy(cusparseHandle_t) { return CUSPARSE_STATUS_NOT_INITIALIZED; }
cusparseStatus_t cusparseSetStream(cusparseHandle_t, cudaStream_t) { return CUSPARSE_STATUS_NOT_INITIALIZED; }
cusparseStatus_t cusparseGetVersion(cusparseHandle_t, int *) { return CUSPARSE_STATUS_NOT_INITIALIZED; }
const char *cusparseGetErrorString(cusparseStatus_t status) {
    return status == CUSPARSE_STATUS_SUCCESS ? "success" : status == CUSPARSE_STATUS_NOT_SUPPORTED ? "operation not supported" : "library not initialized";
}
const char *cusparseGetErrorName(cusparseStatus_t status) {
    return status == CUSPARSE_STATUS_SUCCESS         ? "CUSPARSE_STATUS_SUCCESS"
           : status == CUSPARSE_STATUS_NOT_SUPPORTED ? "CUSPARSE_STATUS_NOT_SUPPORTED"
                                                     : "CUSPARSE_STATUS_NOT_INITIALIZED";
}

cusolverStatus_t cusolverDnCreate(cusolverDnHandle_t *handle) {
    *handle = nullptr;
    fputs("dslc: cuSOLVER is not there: cusolverDnCreate fails with CUSOLVER_STATUS_NOT_SUPPORTED\n", stderr);
    return CUSOLVER_STATUS_NOT_SUPPORTED;
}
cusolverStatus_t cusolverDnDestroy(cusolverDnHandle_t) { return CUSOLVER_STATUS_NOT_INITIALIZED; }
cusolverStatus_t cusolverDnSetStream(cusolverDnHandle_t, cudaStream_t) { return CUSOLVER_STATUS_NOT_INITIALIZED; }

} // extern "C"
