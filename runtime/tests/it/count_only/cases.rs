//! Kernels whose blocks do similar work, and some whose blocks do not. Each is a body that uses `a`, `b` (floats), `i` (ints), `n` and `m`.

/// A kernel and its launch.
pub(crate) struct Case {
    pub(crate) name: &'static str,
    pub(crate) body: &'static str,
    pub(crate) grid: [u32; 3],
    pub(crate) block: [u32; 3],
    pub(crate) n: i32,
    pub(crate) m: i32,
    /// Whether it can be counted from fewer blocks than there are.
    pub(crate) counts: bool,
}

const fn case(
    name: &'static str,
    body: &'static str,
    grid: [u32; 3],
    block: [u32; 3],
    (n, m): (i32, i32),
    counts: bool,
) -> Case {
    Case {
        name,
        body,
        grid,
        block,
        n,
        m,
        counts,
    }
}

const YES: bool = true;
const NO: bool = false;

/// Cases that were used while the analysis was written.
pub(crate) const OPEN: &[Case] = &[
    case(
        "copy",
        "int t = blockIdx.x * blockDim.x + threadIdx.x; b[t] = a[t];",
        [500, 1, 1],
        [128, 1, 1],
        (0, 0),
        YES,
    ),
    case(
        "copy with a bound",
        "int t = blockIdx.x * blockDim.x + threadIdx.x; if (t < n) b[t] = a[t];",
        [500, 1, 1],
        [128, 1, 1],
        (63_333, 0),
        YES,
    ),
    case(
        "strided",
        "int t = (blockIdx.x * blockDim.x + threadIdx.x) * n + m; b[t] = a[t];",
        [300, 1, 1],
        [64, 1, 1],
        (3, 5),
        YES,
    ),
    case(
        "wide accesses",
        "int t = blockIdx.x * blockDim.x + threadIdx.x; ((float4 *)b)[t] = ((float4 *)a)[t]; ((double *)b)[t + n] = ((double *)a)[t];",
        [200, 1, 1],
        [96, 1, 1],
        (77, 0),
        YES,
    ),
    case(
        "bytes and shorts",
        "int t = blockIdx.x * blockDim.x + threadIdx.x; ((char *)b)[t + m] = ((char *)a)[t]; ((short *)b)[t + n] = ((short *)a)[t];",
        [400, 1, 1],
        [48, 1, 1],
        (3, 7),
        YES,
    ),
    case(
        "transposition with padding",
        "__shared__ float tile[32][33]; int x = blockIdx.x * 32 + threadIdx.x, y = blockIdx.y * 32 + threadIdx.y;
         for (int k = 0; k < 32; k += 8) if (x < n && y + k < m) tile[threadIdx.y + k][threadIdx.x] = a[(y + k) * n + x];
         __syncthreads(); x = blockIdx.y * 32 + threadIdx.x; y = blockIdx.x * 32 + threadIdx.y;
         for (int k = 0; k < 32; k += 8) if (x < m && y + k < n) b[(y + k) * m + x] = tile[threadIdx.x][threadIdx.y + k];",
        [20, 17, 1],
        [32, 8, 1],
        (617, 539),
        YES,
    ),
    case(
        "naive product",
        "int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y; float s = 0;
         if (x < n && y < n) { for (int k = 0; k < n; k++) s += a[y * n + k] * a[k * n + x]; b[y * n + x] = s; }",
        [13, 13, 1],
        [16, 16, 1],
        (203, 0),
        YES,
    ),
    case(
        "grid stride",
        "for (int t = blockIdx.x * blockDim.x + threadIdx.x; t < n; t += gridDim.x * blockDim.x) b[t] = a[t] * 2;",
        [64, 1, 1],
        [128, 1, 1],
        (100_003, 0),
        YES,
    ),
    case(
        "stencil with clamps",
        "int t = blockIdx.x * blockDim.x + threadIdx.x; int l = max(t - 1, 0), r = min(t + 1, n - 1); if (t < n) b[t] = a[l] + a[t] + a[r];",
        [200, 1, 1],
        [96, 1, 1],
        (19_000, 0),
        YES,
    ),
    case(
        "three dimensions",
        "int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y, z = blockIdx.z * blockDim.z + threadIdx.z;
         if (x < n && y < m && z < 9) b[(z * m + y) * n + x] = a[(z * m + y) * n + x];",
        [5, 9, 4],
        [16, 4, 3],
        (70, 33),
        YES,
    ),
    case(
        "a row and a column by division",
        "int t = blockIdx.x * blockDim.x + threadIdx.x; int y = t / n, x = t % n; if (y < m) b[x * m + y] = a[t];",
        [800, 1, 1],
        [64, 1, 1],
        (96, 500),
        YES,
    ),
    case(
        "a reduction in shared memory",
        "__shared__ float s[256]; int t = blockIdx.x * blockDim.x + threadIdx.x; s[threadIdx.x] = t < n ? a[t] : 0; __syncthreads();
         for (int k = blockDim.x / 2; k > 0; k >>= 1) { if (threadIdx.x < k) s[threadIdx.x] += s[threadIdx.x + k]; __syncthreads(); }
         if (threadIdx.x == 0) b[blockIdx.x] = s[0];",
        [300, 1, 1],
        [256, 1, 1],
        (76_001, 0),
        YES,
    ),
    case(
        "odd and even blocks",
        "int t = blockIdx.x * blockDim.x + threadIdx.x; if (blockIdx.x & 1) b[t] = a[t]; else b[t + n] = a[t] + a[t + 1];",
        [300, 1, 1],
        [64, 1, 1],
        (5, 0),
        YES,
    ),
    case(
        "a warp sum",
        "int t = blockIdx.x * blockDim.x + threadIdx.x; float v = a[t]; for (int k = 16; k; k >>= 1) v += __shfl_down_sync(0xffffffff, v, k);
         if (threadIdx.x % 32 == 0) b[t / 32] = v;",
        [100, 1, 1],
        [128, 1, 1],
        (0, 0),
        YES,
    ),
    case(
        "atomics on one word",
        "int t = blockIdx.x * blockDim.x + threadIdx.x; if (t < n) atomicAdd(&b[m], a[t]);",
        [200, 1, 1],
        [64, 1, 1],
        (12_345, 3),
        YES,
    ),
    case(
        "a decision by data",
        "int t = blockIdx.x * blockDim.x + threadIdx.x; if (a[t] > 0.5f) b[t] = a[t];",
        [100, 1, 1],
        [64, 1, 1],
        (0, 0),
        NO,
    ),
    case(
        "a gather",
        "int t = blockIdx.x * blockDim.x + threadIdx.x; b[t] = a[i[t]];",
        [100, 1, 1],
        [64, 1, 1],
        (0, 0),
        NO,
    ),
    case(
        "a histogram",
        "int t = blockIdx.x * blockDim.x + threadIdx.x; atomicAdd(&i[(int)a[t] & 31], 1);",
        [100, 1, 1],
        [64, 1, 1],
        (0, 0),
        NO,
    ),
];

/// Cases that were written at the same time, but not run before the analysis was complete.
pub(crate) const HELD: &[Case] = &[
    case(
        "above the diagonal",
        "int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y; if (x > y) b[y * n + x] = a[y * n + x];",
        [16, 16, 1],
        [16, 16, 1],
        (256, 0),
        YES,
    ),
    case(
        "halo in shared memory",
        "__shared__ float s[130]; int t = blockIdx.x * blockDim.x + threadIdx.x, l = threadIdx.x + 1; if (t < n) s[l] = a[t];
         if (threadIdx.x == 0) s[0] = t > 0 ? a[t - 1] : 0; if (threadIdx.x == blockDim.x - 1) s[l + 1] = t + 1 < n ? a[t + 1] : 0;
         __syncthreads(); if (t < n) b[t] = s[l - 1] + s[l] + s[l + 1];",
        [300, 1, 1],
        [128, 1, 1],
        (38_300, 0),
        YES,
    ),
    case(
        "eight by eight swizzle",
        "int bx = blockIdx.x % 8, by = blockIdx.x / 8; int x = bx * 16 + threadIdx.x, y = by * 16 + threadIdx.y; b[y * 128 + x] = a[x * 1024 + y];",
        [512, 1, 1],
        [16, 16, 1],
        (0, 0),
        YES,
    ),
    case(
        "swizzle by exclusive or",
        "int x = (blockIdx.x ^ (blockIdx.y & 3)) * 32 + threadIdx.x; b[blockIdx.y * n + x] = a[x];",
        [16, 64, 1],
        [32, 1, 1],
        (512, 0),
        YES,
    ),
    case(
        "an index that wraps",
        "unsigned t = (blockIdx.x * 40000000u + threadIdx.x) & 0xfffffu; b[t] = a[threadIdx.x];",
        [400, 1, 1],
        [64, 1, 1],
        (0, 0),
        YES,
    ),
    case(
        "a signed index that wraps",
        "int t = blockIdx.x * n + threadIdx.x; if (t >= 0 && t < 1000000) b[t] = a[threadIdx.x];",
        [300, 1, 1],
        [64, 1, 1],
        (50_000_000, 0),
        YES,
    ),
    case(
        "rounds by the block",
        "for (int k = 0; k < (int)blockIdx.x; k++) b[k * 32 + threadIdx.x] = a[k];",
        [40, 20, 1],
        [32, 1, 1],
        (0, 0),
        YES,
    ),
    case(
        "a tile of a triangle",
        "for (int k = 0; k <= (int)blockIdx.y; k++) b[blockIdx.y * n + k * 32 + threadIdx.x] = a[(k * 32 + threadIdx.x) * 33];",
        [10, 20, 1],
        [32, 2, 1],
        (1000, 0),
        YES,
    ),
    case(
        "thread times block",
        "b[threadIdx.x * blockIdx.x * 32] = a[blockIdx.x * 32 + threadIdx.x];",
        [300, 1, 1],
        [32, 1, 1],
        (0, 0),
        NO,
    ),
    case(
        "square of the block",
        "b[blockIdx.x * blockIdx.x + threadIdx.x] = a[threadIdx.x];",
        [300, 1, 1],
        [32, 1, 1],
        (0, 0),
        NO,
    ),
    case(
        "a minimum of both",
        "int t = min((int)(blockIdx.x * blockDim.x + threadIdx.x), n) + max((int)blockIdx.y - 3, m); b[t] = a[t * 2];",
        [90, 12, 1],
        [64, 1, 1],
        (5000, 0),
        YES,
    ),
    case(
        "from the end",
        "int t = n - 1 - (int)(blockIdx.x * blockDim.x + threadIdx.x); if (t >= 0) b[t] = a[n - 1 - t];",
        [90, 1, 1],
        [64, 1, 1],
        (5555, 0),
        YES,
    ),
    case(
        "negative quotients",
        "int t = (int)(blockIdx.x * 32 + threadIdx.x) - m; b[t / 64 + 200 + (t % 64)] = a[(t >> 5) + 200];",
        [2000, 1, 1],
        [32, 1, 1],
        (0, 3000),
        YES,
    ),
    case(
        "read of what nobody writes",
        "int rounds = i[0] % 5 + 2; for (int k = 0; k < rounds; k++) b[blockIdx.x * blockDim.x + threadIdx.x] = a[k];",
        [200, 1, 1],
        [32, 1, 1],
        (0, 0),
        YES,
    ),
    case(
        "votes",
        "int t = blockIdx.x * blockDim.x + threadIdx.x; if (__any_sync(0xffffffff, t == n)) b[t] = 1; else if (__syncthreads_count(t < m) > 10) b[t] = 2;",
        [200, 1, 1],
        [64, 1, 1],
        (777, 9_000),
        YES,
    ),
    case(
        "a shuffled index",
        "int t = blockIdx.x * blockDim.x + threadIdx.x; int u = __shfl_xor_sync(0xffffffff, t, 3); b[u] = a[t];",
        [200, 1, 1],
        [64, 1, 1],
        (0, 0),
        YES,
    ),
    case(
        "a long index",
        "long long t = (long long)blockIdx.x * blockDim.x + threadIdx.x; size_t u = (size_t)blockIdx.y * gridDim.x * blockDim.x + t; if (u < (size_t)n) b[u] = a[t];",
        [20, 30, 1],
        [64, 1, 1],
        (37_777, 0),
        YES,
    ),
    case(
        "a switch over the block",
        "int t = blockIdx.x * blockDim.x + threadIdx.x; switch (blockIdx.x % 4) { case 0: b[t] = 1; break; case 1: b[t] = a[t]; break; case 2: b[t * 2] = 1; default: b[t] = a[t * 2]; }",
        [200, 1, 1],
        [64, 1, 1],
        (0, 0),
        YES,
    ),
];
