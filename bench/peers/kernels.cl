// The benchmark kernels in OpenCL: the same algorithms, block shapes and access patterns as ../*.k.
#pragma OPENCL FP_CONTRACT OFF

__kernel void reduce(__global const int *in, __global int *out)
{
    __local int part[256];
    uint t = get_local_id(0);
    part[t] = in[get_global_id(0)];
    barrier(CLK_LOCAL_MEM_FENCE);
    for (uint half_size = 128; half_size > 0; half_size >>= 1) {
        if (t < half_size)
            part[t] += part[t + half_size];
        barrier(CLK_LOCAL_MEM_FENCE);
    }
    if (t == 0)
        out[get_group_id(0)] = part[0];
}

#define TRANSPOSE(name, pitch)                                                                                          \
    __kernel void name(__global const float *in, __global float *out, int n)                                           \
    {                                                                                                                   \
        __local float tile[32][pitch];                                                                                  \
        int tx = get_local_id(0), ty = get_local_id(1);                                                                 \
        int x = get_group_id(0) * 32 + tx, y = get_group_id(1) * 32 + ty;                                               \
        for (int j = 0; j < 32; j += 8)                                                                                 \
            tile[ty + j][tx] = in[(y + j) * n + x];                                                                     \
        barrier(CLK_LOCAL_MEM_FENCE);                                                                                   \
        x = get_group_id(1) * 32 + tx;                                                                                  \
        y = get_group_id(0) * 32 + ty;                                                                                  \
        for (int j = 0; j < 32; j += 8)                                                                                 \
            out[(y + j) * n + x] = tile[tx][ty + j];                                                                    \
    }
TRANSPOSE(transpose32, 32)
TRANSPOSE(transpose33, 33)

__kernel void sgemm16(__global const float *a, __global const float *b, __global float *c, int n)
{
    __local float a_tile[16][16], b_tile[16][16];
    int tx = get_local_id(0), ty = get_local_id(1);
    int col = get_group_id(0) * 16 + tx, row = get_group_id(1) * 16 + ty;
    float sum = 0.0f;
    for (int m = 0; m < n; m += 16) {
        a_tile[ty][tx] = a[row * n + m + tx];
        b_tile[ty][tx] = b[(m + ty) * n + col];
        barrier(CLK_LOCAL_MEM_FENCE);
        for (int k = 0; k < 16; k++)
            sum += a_tile[ty][k] * b_tile[k][tx];
        barrier(CLK_LOCAL_MEM_FENCE);
    }
    c[row * n + col] = sum;
}

__kernel void gemm_naive(__global const float *a, __global const float *b, __global float *c, int n)
{
    int col = get_global_id(0), row = get_global_id(1);
    float sum = 0.0f;
    for (int k = 0; k < n; k++)
        sum += a[row * n + k] * b[k * n + col];
    c[row * n + col] = sum;
}

__kernel void mandel(__global int *out, int n)
{
    int x = get_global_id(0), y = get_global_id(1);
    float cr = -2.0f + 3.0f * (float)x / (float)n;
    float ci = -1.5f + 3.0f * (float)y / (float)n;
    float zr = 0.0f, zi = 0.0f;
    int round = 0;
    while (round < 256) {
        float r2 = zr * zr, i2 = zi * zi;
        if (r2 + i2 > 4.0f)
            break;
        zi = 2.0f * zr * zi + ci;
        zr = r2 - i2 + cr;
        round++;
    }
    out[y * n + x] = round;
}

__kernel void sgemm64(__global const float *a, __global const float *b, __global float *c, int n)
{
    __local float a_tile[16][64], b_tile[16][64];
    int tx = get_local_id(0), ty = get_local_id(1), t = ty * 8 + tx;
    int row = get_group_id(1) * 64, col = get_group_id(0) * 64;
    float sum[8][8] = {{0.0f}};
    for (int m = 0; m < n; m += 16) {
        for (int part = 0; part < 4; part++) {
            float4 four = vload4(0, &a[(row + t) * n + m + 4 * part]);
            a_tile[4 * part][t] = four.x;
            a_tile[4 * part + 1][t] = four.y;
            a_tile[4 * part + 2][t] = four.z;
            a_tile[4 * part + 3][t] = four.w;
        }
        for (int part = 0; part < 4; part++) {
            int y = 4 * part + t / 16, x = t % 16 * 4;
            vstore4(vload4(0, &b[(m + y) * n + col + x]), 0, &b_tile[y][x]);
        }
        barrier(CLK_LOCAL_MEM_FENCE);
        for (int k = 0; k < 16; k++) {
            float left[8], right[8];
            vstore4(vload4(0, &a_tile[k][ty * 8]), 0, &left[0]);
            vstore4(vload4(0, &a_tile[k][ty * 8 + 4]), 0, &left[4]);
            vstore4(vload4(0, &b_tile[k][tx * 8]), 0, &right[0]);
            vstore4(vload4(0, &b_tile[k][tx * 8 + 4]), 0, &right[4]);
#pragma unroll
            for (int i = 0; i < 8; i++)
#pragma unroll
                for (int j = 0; j < 8; j++)
                    sum[i][j] += left[i] * right[j];
        }
        barrier(CLK_LOCAL_MEM_FENCE);
    }
    for (int i = 0; i < 8; i++)
        for (int j = 0; j < 8; j += 4)
            vstore4((float4)(sum[i][j], sum[i][j + 1], sum[i][j + 2], sum[i][j + 3]), 0, &c[(row + ty * 8 + i) * n + col + tx * 8 + j]);
}

__kernel void gemv_half(__global const half *a, __global const float *x, __global float *y, int n)
{
    int row = get_global_id(0);
    float sum = 0.0f;
    for (int k = 0; k < n; k++)
        sum += vload_half(k * n + row, a) * x[k];
    y[row] = sum;
}
