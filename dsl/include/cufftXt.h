/* cuFFT's extended interface: transforms over several GPUs are not there. Callbacks have their types, and setting one fails: the transforms
   run on the CPU, where no device function does. */
#ifndef DSLC_CUFFTXT_H
#define DSLC_CUFFTXT_H
#include "cufft.h"
#include <stdio.h>

typedef enum cufftXtCallbackType_t {
    CUFFT_CB_LD_COMPLEX = 0, CUFFT_CB_LD_COMPLEX_DOUBLE = 1, CUFFT_CB_LD_REAL = 2, CUFFT_CB_LD_REAL_DOUBLE = 3, CUFFT_CB_ST_COMPLEX = 4,
    CUFFT_CB_ST_COMPLEX_DOUBLE = 5, CUFFT_CB_ST_REAL = 6, CUFFT_CB_ST_REAL_DOUBLE = 7, CUFFT_CB_UNDEFINED = 8
} cufftXtCallbackType;
typedef cufftComplex (*cufftCallbackLoadC)(void *data, size_t offset, void *info, void *shared);
typedef cufftDoubleComplex (*cufftCallbackLoadZ)(void *data, size_t offset, void *info, void *shared);
typedef cufftReal (*cufftCallbackLoadR)(void *data, size_t offset, void *info, void *shared);
typedef cufftDoubleReal (*cufftCallbackLoadD)(void *data, size_t offset, void *info, void *shared);
typedef void (*cufftCallbackStoreC)(void *data, size_t offset, cufftComplex element, void *info, void *shared);
typedef void (*cufftCallbackStoreZ)(void *data, size_t offset, cufftDoubleComplex element, void *info, void *shared);
typedef void (*cufftCallbackStoreR)(void *data, size_t offset, cufftReal element, void *info, void *shared);
typedef void (*cufftCallbackStoreD)(void *data, size_t offset, cufftDoubleReal element, void *info, void *shared);

static inline cufftResult cufftXtSetCallback(cufftHandle plan, void **routine, cufftXtCallbackType type, void **info)
{
    (void)plan; (void)routine; (void)type; (void)info;
    fprintf(stderr, "dslc: cufftXtSetCallback is not supported: transforms run on the CPU, where no device function does; transform the data in a kernel before or after\n");
    return CUFFT_NOT_SUPPORTED;
}
static inline cufftResult cufftXtClearCallback(cufftHandle plan, cufftXtCallbackType type) { (void)plan; (void)type; return CUFFT_NOT_SUPPORTED; }
static inline cufftResult cufftXtSetCallbackSharedSize(cufftHandle plan, cufftXtCallbackType type, size_t bytes) { (void)plan; (void)type; (void)bytes; return CUFFT_NOT_SUPPORTED; }
#endif
