"""Which tile and which padding should a transposition have? No GPU is asked."""

import dslc
import numpy as np

SOURCE = """
__global__ void transpose(float *out, const float *in, int n) {
    __shared__ float tile[TILE][TILE + PAD];
    int x = blockIdx.x * TILE + threadIdx.x, y = blockIdx.y * TILE + threadIdx.y;
    for (int j = 0; j < TILE; j += blockDim.y) tile[threadIdx.y + j][threadIdx.x] = in[(y + j) * n + x];
    __syncthreads();
    x = blockIdx.y * TILE + threadIdx.x, y = blockIdx.x * TILE + threadIdx.y;
    for (int j = 0; j < TILE; j += blockDim.y) out[(y + j) * n + x] = tile[threadIdx.x][threadIdx.y + j];
}"""
n = 256
matrix = np.random.default_rng(1).random((n, n), dtype=np.float32)

results = []
for tile in (8, 16, 32, 64):
    for pad in (0, 1, 2):
        kernel = dslc.kernel(SOURCE, defines={"TILE": tile, "PAD": pad})
        out = np.empty_like(matrix)
        report = kernel((n // tile, n // tile), (tile, min(tile, 8)), dslc.unset(out), matrix, n)
        report.assert_clean()
        assert (out == matrix.T).all()
        column = report.site("tile[threadIdx.x][threadIdx.y + j]").transactions
        sectors = sum(row["sectors"] or 0 for row in report.rows())
        results.append((column + sectors, tile, pad, column, sectors))

print("tile  pad  column reads  sectors")
for _, tile, pad, column, sectors in sorted(results):
    print(f"{tile:>4}  {pad:>3}  {column:>12}  {sectors:>7}")
