__device__ int of_third(int x) { return x + 1; }
