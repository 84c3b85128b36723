// A reference parameter of a kernel, which is the address of an object in managed memory.
#include <stdio.h>
#include <math.h>

struct Element {
    int count;
    float value;
};

__global__ void scale(Element &element)
{
    element.value = element.count * 2.0f;
    element.count += 1;
}

__global__ void fill(int *out, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        out[i] = 3 * i;
}

int main()
{
    Element *element;
    cudaMallocManaged(&element, sizeof(Element));
    element->count = 3;
    element->value = 0.0f;
    scale<<<1, 1>>>(*element);
    cudaDeviceSynchronize();
    printf("%d %g\n", element->count, element->value);
    int right = element->count == 4 && element->value == 6.0f;
    int *out, n = 100;
    cudaMallocManaged(&out, n * sizeof(int));
    fill<<<ceilf(n / 32.0f), 32>>>(out, n);
    cudaDeviceSynchronize();
    for (int i = 0; i < n; i++)
        right = right && out[i] == 3 * i;
    cudaFree(out);
    cudaFree(element);
    return right ? 0 : 1;
}
