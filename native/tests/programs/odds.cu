// What public programs do besides: an enumeration as a template argument, a parameter of a kernel with a destructor, the compiler's own
// atomic functions, a lock by value.
#include <cstdio>
enum Place { Shared, Global };
struct Lock {
    int *mutex;
    Lock() {
        cudaMalloc((void **)&mutex, sizeof(int));
        cudaMemset(mutex, 0, sizeof(int));
    }
    Lock(const Lock &other) : mutex(other.mutex) { copies++; }
    ~Lock() { destroyed++; }
    __device__ void lock() {
        while (atomicCAS(mutex, 0, 1) != 0) {}
        __threadfence();
    }
    __device__ void unlock() {
        __threadfence();
        atomicExch(mutex, 0);
    }
    static int copies, destroyed;
};
int Lock::copies = 0, Lock::destroyed = 0;
template <Place place, unsigned N, bool up> __global__ void count(int *bins, Lock lock) {
    __shared__ int mine;
    if (threadIdx.x == 0) mine = 0;
    __syncthreads();
    if (place == Shared) atomicAdd(&mine, N);
    else atomicAdd(&bins[1], up ? N : -N);
    __syncthreads();
    if (threadIdx.x == 0) {
        lock.lock();
        bins[0] += mine;
        lock.unlock();
        __nv_atomic_fetch_max(&bins[2], (int)blockIdx.x, __NV_ATOMIC_RELAXED, __NV_THREAD_SCOPE_DEVICE);
        int expected = __nv_atomic_load_n(&bins[3], __NV_ATOMIC_RELAXED);
        while (!__nv_atomic_compare_exchange_n(&bins[3], &expected, expected + 2, false, __NV_ATOMIC_RELAXED, __NV_ATOMIC_RELAXED)) {}
    }
}
int main() {
    int *bins, back[4];
    cudaMalloc(&bins, sizeof back);
    cudaMemset(bins, 0, sizeof back);
    Lock lock;
    count<Shared, 2u, true><<<8, 64>>>(bins, lock);
    count<Global, 3u, false><<<8, 64>>>(bins, lock);
    cudaMemcpy(back, bins, sizeof back, cudaMemcpyDeviceToHost);
    printf("%d %d %d %d, %d copies, as many destroyed: %d\n", back[0], back[1], back[2], back[3], Lock::copies, Lock::destroyed == Lock::copies);
}
