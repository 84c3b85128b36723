// Work of several streams: nothing orders the faults, and the rest is ordered by events, waits, the default stream, or by what a stream
// does one after the other.
#include <cstdio>
__global__ void make(int *d) { d[threadIdx.x] = threadIdx.x; }
__global__ void use(const int *d, int *o) { o[threadIdx.x] = d[63 - threadIdx.x]; }
__device__ int table[64];
__global__ void look(int *o) { o[threadIdx.x] = table[threadIdx.x]; }

static void faults(cudaStream_t a, cudaStream_t b, int *d, int *o, int *pinned) {
  cudaEvent_t e; cudaEventCreate(&e);
  cudaEventRecord(e, a);
  make<<<1, 64, 0, a>>>(d);
  cudaStreamWaitEvent(b, e, 0);       // of what was before `make`
  use<<<1, 64, 0, b>>>(d, o);
  cudaDeviceSynchronize();

  cudaMemcpyAsync(d, pinned, 256, cudaMemcpyHostToDevice, a);
  use<<<1, 64, 0, b>>>(d, o);
  cudaDeviceSynchronize();

  cudaMemsetAsync(d, 0, 256, a);
  make<<<1, 64, 0, b>>>(d);
  cudaDeviceSynchronize();

  int *t; cudaMallocAsync(&t, 256, a);
  make<<<1, 64, 0, a>>>(t);
  cudaStreamSynchronize(a);
  use<<<1, 64, 0, b>>>(t, o);
  cudaFreeAsync(t, a);
  cudaDeviceSynchronize();
  cudaEventDestroy(e);
}

static void sound(cudaStream_t a, cudaStream_t b, cudaStream_t apart, int *d, int *o, int *pinned) {
  cudaEvent_t e; cudaEventCreate(&e);
  make<<<1, 64, 0, a>>>(d);
  cudaEventRecord(e, a);
  cudaStreamWaitEvent(b, e, 0);
  use<<<1, 64, 0, b>>>(d, o);
  cudaStreamSynchronize(b);

  make<<<1, 64, 0, a>>>(d);           // the default stream waits for both, and they for it
  use<<<1, 64>>>(d, o);
  use<<<1, 64, 0, b>>>(d, o);
  cudaDeviceSynchronize();

  cudaMemcpyAsync(d, pinned, 256, cudaMemcpyHostToDevice, a);
  cudaEventRecord(e, a);
  cudaEventSynchronize(e);
  use<<<1, 64, 0, apart>>>(d, o);
  cudaStreamSynchronize(apart);

  int h[64] = {};
  cudaMemcpyToSymbol(table, h, sizeof h);   // these return when all is done
  cudaMemcpy2D(d, 16, h, 16, 16, 16, cudaMemcpyHostToDevice);
  look<<<1, 64, 0, apart>>>(o);
  use<<<1, 64, 0, apart>>>(d, o);
  cudaStreamSynchronize(apart);
  cudaMemset(d, 0, 4);
  cudaFreeAsync(nullptr, apart);
  make<<<1, 64, 0, a>>>(d + 64);      // other bytes
  make<<<1, 64, 0, b>>>(d + 128);
  cudaDeviceSynchronize();
  cudaEventDestroy(e);
}

int main() {
  int *d, *o, *pinned; cudaStream_t a, b, apart;
  cudaStreamCreate(&a); cudaStreamCreate(&b); cudaStreamCreateWithFlags(&apart, cudaStreamNonBlocking);
  cudaMalloc(&d, 768); cudaMalloc(&o, 256); cudaMallocHost(&pinned, 256);
  sound(a, b, apart, d, o, pinned);
  faults(a, b, d, o, pinned);
  cudaStreamDestroy(a); cudaStreamDestroy(b); cudaStreamDestroy(apart);
  printf("done\n");
}
