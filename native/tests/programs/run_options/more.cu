__global__ void add(int *p, int n)
{
    if (threadIdx.x < n) p[threadIdx.x] += 1;
}

void more(int *p, int n)
{
    add<<<1, 64>>>(p, n);
}
