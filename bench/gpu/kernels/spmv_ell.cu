// sparse algebra: the product of a matrix of as many entries in each row, stored by columns, and a vector
// large: 2097152
#include "bench.h"

#define ENTRIES 24

__global__ void spmv_ell(int rows, int entries, const int *columns, const double *values, const double *x, double *y)
{
    int row = blockDim.x * blockIdx.x + threadIdx.x;
    if (row < rows) {
        double dot = 0;
        for (int k = 0; k < entries; k++) {
            int col = columns[rows * k + row];
            double value = values[rows * k + row];
            if (col >= 0) dot += value * x[col];
        }
        y[row] = dot;
    }
}

// A band around the diagonal, with gaps.
__host__ __device__ inline int column_at(unsigned k, unsigned row, int rows)
{
    int col = (int)row + (int)(word_at(row * ENTRIES + k, 2) % 512) - 256;
    return col < rows ? col : -1;
}

__host__ __device__ inline double value_at(unsigned i, unsigned seed) { return float_at(i, seed, -1.0f, 1.0f); }

__global__ void fill_matrix(int *columns, double *values, double *x, int rows)
{
    int row = blockDim.x * blockIdx.x + threadIdx.x;
    if (row >= rows) return;
    x[row] = value_at(row, 3);
    for (int k = 0; k < ENTRIES; k++) {
        columns[rows * k + row] = column_at(k, row, rows);
        values[rows * k + row] = value_at(rows * k + row, 1);
    }
}

int main(int argc, char **argv)
{
    int rows = bench_size(argc, argv, 512);
    size_t cells = (size_t)rows * ENTRIES;
    int *columns = (int *)device_bytes(cells * 4);
    double *values = (double *)device_bytes(cells * 8), *x = (double *)device_bytes((size_t)rows * 8), *y = (double *)device_bytes((size_t)rows * 8);
    fill_matrix<<<(rows + 255) / 256, 256>>>(columns, values, x, rows);
    MEASURE(spmv_ell<<<(rows + 255) / 256, 256>>>(rows, ENTRIES, columns, values, x, y));
    bool ok = true;
    for (int s = 0; s < SAMPLES; s++) {
        unsigned row = (unsigned)sample(s, rows);
        double want = 0.0, got;
        for (int k = 0; k < ENTRIES; k++) {
            int col = column_at(k, row, rows);
            if (col >= 0) want += value_at(rows * k + row, 1) * value_at(col, 3);
        }
        CHECK(cudaMemcpy(&got, y + row, 8, cudaMemcpyDeviceToHost));
        ok = ok && is_near(got, want, 1e-12);
    }
    int code = bench_end("spmv_ell", ok, y, (size_t)rows * 2);
    CHECK(cudaFree(columns));
    CHECK(cudaFree(values));
    CHECK(cudaFree(x));
    CHECK(cudaFree(y));
    return code;
}
