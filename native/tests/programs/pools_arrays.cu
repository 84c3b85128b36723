// Pools of memory, arrays, and calls that say that they are not there.
#include <cstdio>

#define CHECK(call)                                                                                        \
    if (cudaError_t error = (call)) printf("line %d: %s\n", __LINE__, cudaGetErrorName(error))

__global__ void twice(int *p) { p[threadIdx.x] *= 2; }
__global__ void looked_up(cudaTextureObject_t texture, float *out) { *out = tex2D<float>(texture, 0.5f, 0.5f); }

static void pools()
{
    cudaMemPool_t pool, own;
    CHECK(cudaDeviceGetDefaultMemPool(&pool, 0));
    unsigned long long keep = ~0ull, used = 0, high = 0;
    CHECK(cudaMemPoolSetAttribute(pool, cudaMemPoolAttrReleaseThreshold, &keep));
    cudaStream_t stream;
    CHECK(cudaStreamCreate(&stream));
    int *a, *b, host[32];
    for (int i = 0; i < 32; i++) host[i] = i;
    CHECK(cudaMallocAsync(&a, sizeof host, stream));
    CHECK(cudaMemcpyAsync(a, host, sizeof host, cudaMemcpyHostToDevice, stream));
    twice<<<1, 32, 0, stream>>>(a);
    CHECK(cudaMemcpyAsync(host, a, sizeof host, cudaMemcpyDeviceToHost, stream));
    CHECK(cudaStreamSynchronize(stream));
    CHECK(cudaMemPoolGetAttribute(pool, cudaMemPoolAttrUsedMemCurrent, &used));
    CHECK(cudaFreeAsync(a, stream));
    printf("%d, used %llu", host[31], used);
    CHECK(cudaMemPoolGetAttribute(pool, cudaMemPoolAttrUsedMemCurrent, &used));
    CHECK(cudaMemPoolGetAttribute(pool, cudaMemPoolAttrUsedMemHigh, &high));
    printf(", then %llu, at most %llu\n", used, high);
    cudaMemPoolProps properties = {};
    properties.allocType = cudaMemAllocationTypePinned;
    properties.location = {cudaMemLocationTypeDevice, 0};
    properties.maxSize = 1000;
    CHECK(cudaMemPoolCreate(&own, &properties));
    CHECK(cudaMallocFromPoolAsync(&b, 800, own, stream));
    printf("too much for the pool: %s\n", cudaGetErrorName(cudaMallocAsync(&a, 800, own, stream)));
    CHECK(cudaFreeAsync(b, stream));
    CHECK(cudaMemPoolTrimTo(own, 0));
    CHECK(cudaMemPoolDestroy(own));
}

static void arrays()
{
    cudaArray_t array, box;
    cudaChannelFormatDesc format = cudaCreateChannelDesc<float2>(), found;
    CHECK(cudaMallocArray(&array, &format, 4, 3));
    float2 in[3][4], out[3][4] = {};
    for (int i = 0; i < 12; i++) in[i / 4][i % 4] = make_float2(i, -i);
    CHECK(cudaMemcpy2DToArray(array, 0, 0, in, 4 * sizeof(float2), 4 * sizeof(float2), 3, cudaMemcpyHostToDevice));
    CHECK(cudaMemcpy2DFromArray(out, 4 * sizeof(float2), array, sizeof(float2), 1, 2 * sizeof(float2), 2, cudaMemcpyDeviceToHost));
    printf("%g %g, outside: %s\n", out[1][0].x, out[1][1].y,
           cudaGetErrorName(cudaMemcpy2DFromArray(out, 64, array, 0, 2, 8, 2, cudaMemcpyDeviceToHost)));
    cudaExtent extent;
    unsigned flags;
    CHECK(cudaArrayGetInfo(&found, &extent, &flags, array));
    printf("%d + %d bits, kind %d, %zu x %zu\n", found.x, found.y, found.f, extent.width, extent.height);
    cudaChannelFormatDesc one = cudaCreateChannelDesc<int>();
    CHECK(cudaMalloc3DArray(&box, &one, make_cudaExtent(2, 2, 2), cudaArrayDefault));
    int cube[8] = {1, 2, 3, 4, 5, 6, 7, 8}, back[2] = {};
    cudaMemcpy3DParms copy = {};
    copy.srcPtr = make_cudaPitchedPtr(cube, 2 * sizeof(int), 2, 2);
    copy.dstArray = box;
    copy.extent = make_cudaExtent(2, 2, 2);
    copy.kind = cudaMemcpyHostToDevice;
    CHECK(cudaMemcpy3D(&copy));
    cudaMemcpy3DParms other = {};
    other.srcArray = box;
    other.srcPos = make_cudaPos(1, 0, 1);
    other.dstPtr = make_cudaPitchedPtr(back, sizeof(int), 1, 2);
    other.extent = make_cudaExtent(1, 2, 1);
    other.kind = cudaMemcpyDeviceToHost;
    CHECK(cudaMemcpy3D(&other));
    printf("%d %d\n", back[0], back[1]);
    CHECK(cudaFreeArray(box));
    cudaResourceDesc resource = {};
    resource.resType = cudaResourceTypeArray;
    resource.res.array.array = array;
    cudaTextureDesc texture = {};
    cudaTextureObject_t object = 0;
    CHECK(cudaCreateTextureObject(&object, &resource, &texture, nullptr));
    CHECK(cudaFreeArray(array));
    printf("freed: %s\n", cudaGetErrorName(cudaGetChannelDesc(&found, array)));
}

int main(int argc, char **)
{
    pools();
    arrays();
    cudaIpcMemHandle_t handle;
    printf("%s\n", cudaGetErrorName(cudaIpcGetMemHandle(&handle, nullptr)));
    if (argc > 1) looked_up<<<1, 1>>>(0, nullptr);
}
