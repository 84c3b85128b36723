#include <stdio.h>
// Lane 0 fills a ring of two places, lane 1 empties it.
// sm_90: ends
// sm_35: deadlock
__global__ void k(int *out)
{
    __shared__ volatile int ring[2], head, tail;
    if (threadIdx.x == 0)
        head = tail = 0;
    __syncthreads();
    if (threadIdx.x == 0) {
        for (int i = 0; i < 20; i++) {
            while (head - tail == 2)
                ;
            ring[head % 2] = i * i;
            __threadfence_block();
            head = head + 1;
        }
    } else if (threadIdx.x == 1) {
        int sum = 0;
        for (int i = 0; i < 20; i++) {
            while (head == tail)
                ;
            __threadfence_block();
            sum += ring[tail % 2];
            __threadfence_block();
            tail = tail + 1;
        }
        *out = sum;
    }
}
int main()
{
    int *d, n = 0;
    cudaMalloc(&d, sizeof *d);
    k<<<1, 32>>>(d);
    cudaMemcpy(&n, d, sizeof n, cudaMemcpyDeviceToHost);
    printf("%s\n", n == 2470 ? "OK" : "WRONG");
    cudaFree(d);
    return 0;
}
