// Where members of derived classes lie: the host's compiler and the kernel agree, also on members in the padding of a base.
#include <cstdio>

struct Plain { int x; char c; };
struct OfPlain : Plain { char e; };
struct Derived : Plain { char d; };
struct OfDerived : Derived { char e; };
struct Begun { int x; char c; __host__ __device__ Begun() {} };
struct OfBegun : Begun { char e; };
class Hidden { int x; char c; };
struct OfHidden : Hidden { char e; };
struct Given { int x = 1; char c; };
struct OfGiven : Given { char e; };
struct Ended { int x; char c; __host__ __device__ ~Ended() {} };
struct OfEnded : Ended { char e; };
struct Converted { int x; char c; __host__ __device__ operator int() const { return 1; } };
struct OfConverted : Converted { char e; };
struct Called { __host__ __device__ virtual int f() { return 1; } char c; };
struct OfCalled : Called { char e; };
struct Below : OfCalled { int e; };
struct Deep : Below { char e; };
struct Holder { int x; char c; Begun member; char z; };
struct OfHolder : Holder { char e; };
struct Empty {};
struct OnEmpty : Empty { __host__ __device__ virtual int f() { return 1; } char c; };
struct OfOnEmpty : OnEmpty { char e; };
struct Aligned { __host__ __device__ virtual void f() {} float4 v; char c; };
struct OfAligned : Aligned { double e; };
template <typename T> struct Generic { T a; __host__ __device__ virtual T g() { return a; } char b; };
struct OfGeneric : Generic<short> { short e; };

#define ALL(F)                                                                                                                     \
    F(OfPlain) F(OfDerived) F(OfBegun) F(OfHidden) F(OfGiven) F(OfEnded) F(OfConverted) F(OfCalled) F(Below) F(Deep) F(OfHolder)   \
    F(OfOnEmpty) F(OfAligned) F(OfGeneric)

#define PLACE(T)                                                                                                                   \
    {                                                                                                                              \
        alignas(16) char raw[sizeof(T)];                                                                                           \
        T *object = (T *)raw;                                                                                                      \
        sizes[i] = sizeof(T);                                                                                                      \
        offsets[i++] = (int)((char *)&object->e - raw);                                                                            \
    }

__global__ void places(int *sizes, int *offsets) {
    int i = 0;
    ALL(PLACE)
}

int main() {
    const int most = 32;
    int *device, host[2 * most], i = 0;
    int *sizes = host, *offsets = host + most;
    cudaMallocManaged(&device, sizeof host);
    places<<<1, 1>>>(device, device + most);
    cudaDeviceSynchronize();
    ALL(PLACE)
    for (int k = 0; k < i; k++) {
        const char *same = sizes[k] == device[k] && offsets[k] == device[most + k] ? "" : " differs";
        printf("%d bytes, e at %d%s\n", sizes[k], offsets[k], same);
    }
    cudaFree(device);
    return 0;
}
