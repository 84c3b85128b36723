extern __device__ int of_third(int);
__global__ void call(int *p) { *p = of_third(20); }
int of_other_source(int *p)
{
    call<<<1, 1>>>(p);
    cudaDeviceSynchronize();
    return *p;
}
