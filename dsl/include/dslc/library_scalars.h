/* Complex and half numbers in the headers of CUDA's libraries, whichever language includes them. */
#ifndef DSLC_LIBRARY_SCALARS_H
#define DSLC_LIBRARY_SCALARS_H

#include "cuComplex.h"
#if defined(__cplusplus) && defined(__CUDACC__)
#include "cuda_fp16.h"
#include "cuda_bf16.h"
#elif !defined(DSLC_CUDA_FP16_H)
/* Outside of CUDA sources a half number is its bits. */
typedef struct __half { unsigned short __x; } __half;
#endif

#endif
