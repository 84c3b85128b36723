"""Which configurations are worth a GPU's time? Kernel Tuner's sum of vectors, and a tiled product with a mistake in some of them."""

import itertools

import numpy as np
from dslc.kernel_tuner import Filter

VECTOR_ADD = """
__global__ void vector_add(float *c, float *a, float *b, int n) {
    int i = blockIdx.x * block_size_x + threadIdx.x;
    if (i < n) c[i] = a[i] + b[i];
}"""

# B's tile has as many rows as A's tile has columns; with fewer threads than that, some rows are never loaded.
PRODUCT = """
__global__ void product(float *c, const float *a, const float *b) {
    const int n = 64;
    __shared__ float sa[block_size_y][block_size_x], sb[block_size_x][block_size_x + padding];
    int tx = threadIdx.x, ty = threadIdx.y, x = blockIdx.x * block_size_x + tx, y = blockIdx.y * block_size_y + ty;
    float sum = 0;
    for (int k = 0; k < n; k += block_size_x) {
        sa[ty][tx] = a[y * n + k + tx];
        sb[tx][ty] = b[(k + ty) * n + x];
        __syncthreads();
        for (int i = 0; i < block_size_x; i++) sum += sa[ty][i] * sb[tx][i];
        __syncthreads();
    }
    c[y * n + x] = sum;
}"""


def show(first: Filter, parameters: dict) -> None:
    print(first.kernel_name)
    for values in itertools.product(*parameters.values()):
        verdict = first.verdict(dict(zip(parameters, values)))
        cost = ", ".join(f"{name} {value}" for name, value in verdict.measurements.items())
        print(f"  {str(values):<14} {verdict.invalidity:<12} {verdict.reason[:90] or cost}")


n = 100_000
a, b = np.random.default_rng(1).random((2, n), dtype=np.float32)
show(Filter("vector_add", VECTOR_ADD, n, [np.zeros_like(a), a, b, np.int32(n)]), {"block_size_x": [64, 256, 1024, 2048]})

a, b = np.random.default_rng(1).random((2, 64, 64), dtype=np.float32)
product = Filter("product", PRODUCT, (64, 64), [np.zeros_like(a), a, b], grid_div_y=["block_size_y"])
show(product, {"block_size_x": [16, 32], "block_size_y": [8, 16, 32, 64], "padding": [0, 1]})
