/* Arrays of CUDA's and their copies; texture and surface objects, which cannot be made: kernels cannot read through them. Included by
   cuda_runtime_api.h. */
#ifndef DSLC_ARRAYS_H
#define DSLC_ARRAYS_H

typedef enum cudaChannelFormatKind {
    cudaChannelFormatKindSigned = 0, cudaChannelFormatKindUnsigned = 1, cudaChannelFormatKindFloat = 2, cudaChannelFormatKindNone = 3
} cudaChannelFormatKind;
typedef struct cudaChannelFormatDesc { int x, y, z, w; enum cudaChannelFormatKind f; } cudaChannelFormatDesc;
typedef struct cudaMipmappedArray *cudaMipmappedArray_t;
typedef unsigned long long cudaTextureObject_t;
typedef unsigned long long cudaSurfaceObject_t;
typedef enum cudaTextureAddressMode {
    cudaAddressModeWrap = 0, cudaAddressModeClamp = 1, cudaAddressModeMirror = 2, cudaAddressModeBorder = 3
} cudaTextureAddressMode;
typedef enum cudaTextureFilterMode { cudaFilterModePoint = 0, cudaFilterModeLinear = 1 } cudaTextureFilterMode;
typedef enum cudaTextureReadMode { cudaReadModeElementType = 0, cudaReadModeNormalizedFloat = 1 } cudaTextureReadMode;
typedef enum cudaSurfaceBoundaryMode {
    cudaBoundaryModeZero = 0, cudaBoundaryModeClamp = 1, cudaBoundaryModeTrap = 2
} cudaSurfaceBoundaryMode;
typedef enum cudaResourceType {
    cudaResourceTypeArray = 0, cudaResourceTypeMipmappedArray = 1, cudaResourceTypeLinear = 2, cudaResourceTypePitch2D = 3
} cudaResourceType;
typedef enum cudaResourceViewFormat { cudaResViewFormatNone = 0 } cudaResourceViewFormat;
typedef struct cudaResourceDesc {
    enum cudaResourceType resType;
    union {
        struct { cudaArray_t array; } array;
        struct { cudaMipmappedArray_t mipmap; } mipmap;
        struct { void *devPtr; cudaChannelFormatDesc desc; size_t sizeInBytes; } linear;
        struct { void *devPtr; cudaChannelFormatDesc desc; size_t width, height, pitchInBytes; } pitch2D;
    } res;
} cudaResourceDesc;
typedef struct cudaTextureDesc {
    enum cudaTextureAddressMode addressMode[3];
    enum cudaTextureFilterMode filterMode;
    enum cudaTextureReadMode readMode;
    int sRGB;
    float borderColor[4];
    int normalizedCoords;
    unsigned int maxAnisotropy;
    enum cudaTextureFilterMode mipmapFilterMode;
    float mipmapLevelBias, minMipmapLevelClamp, maxMipmapLevelClamp;
    int disableTrilinearOptimization, seamlessCubemap;
} cudaTextureDesc;
typedef struct cudaResourceViewDesc {
    enum cudaResourceViewFormat format;
    size_t width, height, depth;
    unsigned int firstMipmapLevel, lastMipmapLevel, firstLayer, lastLayer;
} cudaResourceViewDesc;

#define cudaArrayDefault 0
#define cudaArrayLayered 1
#define cudaArraySurfaceLoadStore 2
#define cudaArrayCubemap 4
#define cudaArrayTextureGather 8

#ifdef __cplusplus
extern "C" {
#endif
static inline cudaChannelFormatDesc __dslc_channel(int x, int y, int z, int w, enum cudaChannelFormatKind kind)
{
    cudaChannelFormatDesc made;
    made.x = x, made.y = y, made.z = z, made.w = w, made.f = kind;
    return made;
}
cudaError_t cudaMallocArray(cudaArray_t *array, const cudaChannelFormatDesc *format, size_t width, size_t height DSLC_DEFAULT(0), unsigned int flags DSLC_DEFAULT(0));
cudaError_t cudaMalloc3DArray(cudaArray_t *array, const cudaChannelFormatDesc *format, struct cudaExtent extent, unsigned int flags DSLC_DEFAULT(0));
cudaError_t cudaFreeArray(cudaArray_t array);
cudaError_t cudaArrayGetInfo(cudaChannelFormatDesc *format, struct cudaExtent *extent, unsigned int *flags, cudaArray_t array);
cudaError_t cudaGetChannelDesc(cudaChannelFormatDesc *format, cudaArray_const_t array);
cudaError_t cudaMemcpyToArray(cudaArray_t to, size_t x, size_t y, const void *from, size_t bytes, enum cudaMemcpyKind kind);
cudaError_t cudaMemcpyFromArray(void *to, cudaArray_const_t from, size_t x, size_t y, size_t bytes, enum cudaMemcpyKind kind);
cudaError_t cudaMemcpy2DToArray(cudaArray_t to, size_t x, size_t y, const void *from, size_t pitch, size_t width, size_t height, enum cudaMemcpyKind kind);
cudaError_t cudaMemcpy2DToArrayAsync(cudaArray_t to, size_t x, size_t y, const void *from, size_t pitch, size_t width, size_t height, enum cudaMemcpyKind kind, cudaStream_t stream DSLC_DEFAULT(0));
cudaError_t cudaMemcpy2DFromArray(void *to, size_t pitch, cudaArray_const_t from, size_t x, size_t y, size_t width, size_t height, enum cudaMemcpyKind kind);
cudaError_t cudaMemcpy2DFromArrayAsync(void *to, size_t pitch, cudaArray_const_t from, size_t x, size_t y, size_t width, size_t height, enum cudaMemcpyKind kind, cudaStream_t stream DSLC_DEFAULT(0));
cudaError_t cudaMemcpy2DArrayToArray(cudaArray_t to, size_t to_x, size_t to_y, cudaArray_const_t from, size_t from_x, size_t from_y, size_t width, size_t height, enum cudaMemcpyKind kind DSLC_DEFAULT(cudaMemcpyDeviceToDevice));
/* These fail with cudaErrorNotSupported. */
cudaError_t cudaMallocMipmappedArray(cudaMipmappedArray_t *array, const cudaChannelFormatDesc *format, struct cudaExtent extent, unsigned int levels, unsigned int flags DSLC_DEFAULT(0));
cudaError_t cudaGetMipmappedArrayLevel(cudaArray_t *level, cudaMipmappedArray_t array, unsigned int number);
cudaError_t cudaFreeMipmappedArray(cudaMipmappedArray_t array);
cudaError_t cudaCreateTextureObject(cudaTextureObject_t *object, const cudaResourceDesc *resource, const cudaTextureDesc *texture, const cudaResourceViewDesc *view);
cudaError_t cudaDestroyTextureObject(cudaTextureObject_t object);
cudaError_t cudaGetTextureObjectResourceDesc(cudaResourceDesc *resource, cudaTextureObject_t object);
cudaError_t cudaCreateSurfaceObject(cudaSurfaceObject_t *object, const cudaResourceDesc *resource);
cudaError_t cudaDestroySurfaceObject(cudaSurfaceObject_t object);
#ifdef __cplusplus
}
inline cudaChannelFormatDesc cudaCreateChannelDesc(int x, int y, int z, int w, cudaChannelFormatKind kind) { return __dslc_channel(x, y, z, w, kind); }
template <class T> inline cudaChannelFormatDesc cudaCreateChannelDesc() { return __dslc_channel(0, 0, 0, 0, cudaChannelFormatKindNone); }
#define DSLC_CHANNELS(T, bits, kind)                                                                                                 \
    template <> inline cudaChannelFormatDesc cudaCreateChannelDesc<T>() { return __dslc_channel(bits, 0, 0, 0, cudaChannelFormatKind##kind); }
#define DSLC_VECTOR_CHANNELS(T, bits, kind)                                                                                          \
    template <> inline cudaChannelFormatDesc cudaCreateChannelDesc<T##1>() { return __dslc_channel(bits, 0, 0, 0, cudaChannelFormatKind##kind); } \
    template <> inline cudaChannelFormatDesc cudaCreateChannelDesc<T##2>() { return __dslc_channel(bits, bits, 0, 0, cudaChannelFormatKind##kind); } \
    template <> inline cudaChannelFormatDesc cudaCreateChannelDesc<T##4>() { return __dslc_channel(bits, bits, bits, bits, cudaChannelFormatKind##kind); }
DSLC_CHANNELS(char, 8, Signed)
DSLC_CHANNELS(signed char, 8, Signed)
DSLC_CHANNELS(unsigned char, 8, Unsigned)
DSLC_CHANNELS(short, 16, Signed)
DSLC_CHANNELS(unsigned short, 16, Unsigned)
DSLC_CHANNELS(int, 32, Signed)
DSLC_CHANNELS(unsigned int, 32, Unsigned)
DSLC_CHANNELS(float, 32, Float)
DSLC_VECTOR_CHANNELS(char, 8, Signed)
DSLC_VECTOR_CHANNELS(uchar, 8, Unsigned)
DSLC_VECTOR_CHANNELS(short, 16, Signed)
DSLC_VECTOR_CHANNELS(ushort, 16, Unsigned)
DSLC_VECTOR_CHANNELS(int, 32, Signed)
DSLC_VECTOR_CHANNELS(uint, 32, Unsigned)
DSLC_VECTOR_CHANNELS(float, 32, Float)
#undef DSLC_CHANNELS
#undef DSLC_VECTOR_CHANNELS
#ifdef __CUDACC__
/* What kernels read and write through: declared, so that programs build. A kernel that uses one is not understood, and the build says so. */
template <class T> __device__ T tex1Dfetch(cudaTextureObject_t, int);
template <class T> __device__ T tex1D(cudaTextureObject_t, float);
template <class T> __device__ T tex2D(cudaTextureObject_t, float, float);
template <class T> __device__ T tex3D(cudaTextureObject_t, float, float, float);
template <class T> __device__ T tex1DLayered(cudaTextureObject_t, float, int);
template <class T> __device__ T tex2DLayered(cudaTextureObject_t, float, float, int);
template <class T> __device__ T texCubemap(cudaTextureObject_t, float, float, float);
template <class T> __device__ T tex2DLod(cudaTextureObject_t, float, float, float);
template <class T> __device__ T tex2Dgather(cudaTextureObject_t, float, float, int = 0);
template <class T> __device__ void tex1Dfetch(T *, cudaTextureObject_t, int);
template <class T> __device__ void tex2D(T *, cudaTextureObject_t, float, float);
template <class T> __device__ void tex3D(T *, cudaTextureObject_t, float, float, float);
template <class T> __device__ T surf1Dread(cudaSurfaceObject_t, int, cudaSurfaceBoundaryMode = cudaBoundaryModeTrap);
template <class T> __device__ T surf2Dread(cudaSurfaceObject_t, int, int, cudaSurfaceBoundaryMode = cudaBoundaryModeTrap);
template <class T> __device__ T surf3Dread(cudaSurfaceObject_t, int, int, int, cudaSurfaceBoundaryMode = cudaBoundaryModeTrap);
template <class T> __device__ void surf2Dread(T *, cudaSurfaceObject_t, int, int, cudaSurfaceBoundaryMode = cudaBoundaryModeTrap);
template <class T> __device__ void surf1Dwrite(T, cudaSurfaceObject_t, int, cudaSurfaceBoundaryMode = cudaBoundaryModeTrap);
template <class T> __device__ void surf2Dwrite(T, cudaSurfaceObject_t, int, int, cudaSurfaceBoundaryMode = cudaBoundaryModeTrap);
template <class T> __device__ void surf3Dwrite(T, cudaSurfaceObject_t, int, int, int, cudaSurfaceBoundaryMode = cudaBoundaryModeTrap);
#endif
#endif
#endif
