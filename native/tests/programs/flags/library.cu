__global__ void square(int *p) { *p *= *p; }
extern "C" int of_library(int x)
{
    int *p, result;
    cudaMalloc(&p, sizeof(int));
    cudaMemcpy(p, &x, sizeof x, cudaMemcpyHostToDevice);
    square<<<1, 1>>>(p);
    cudaMemcpy(&result, p, sizeof x, cudaMemcpyDeviceToHost);
    cudaFree(p);
    return result;
}
