"""Kernels that Python launches."""

import subprocess
import sys
from pathlib import Path

import dslc
import numpy as np
import pytest

ROOT = Path(__file__).resolve().parents[2]

TEXT = """
#ifndef SYNC
#define SYNC __syncthreads()
#endif
struct Line { float slope; char offset; };
template <typename T, int N> __global__ void fill(T *out, T value) { out[threadIdx.x] = value + T(N); }
__global__ void apply(float *y, const float *x, Line line, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) y[i] = line.slope * x[i] + line.offset;
}
__global__ void turn(int *out) {
    extern __shared__ int s[];
    s[threadIdx.x] = threadIdx.x;
    SYNC;
    out[threadIdx.x] = s[blockDim.x - 1 - threadIdx.x];
}
"""


def test_arrays_come_back_and_constant_ones_do_not():
    apply = dslc.kernel(TEXT, "apply")
    line = np.zeros((), np.dtype([("slope", "f4"), ("offset", "i1"), ("pad", "V3")]))
    line["slope"], line["offset"] = 2, -5
    x, y = np.arange(100, dtype=np.float32), np.zeros(100, np.float32)
    report = apply(4, 32, y, x, line[()], 100)
    report.assert_clean()
    assert (y == 2 * x - 5).all()
    assert (x == np.arange(100)).all()
    assert apply.prototype == "apply(float *y, const float *x, Line line, int n)"
    assert report.launches[0].grid == (4, 1, 1)


def test_any_strides():
    scale = dslc.kernel("__global__ void scale(double *x) { x[threadIdx.x] *= 2; }")
    whole = np.arange(24.0).reshape(4, 6)
    scale(1, 12, whole[::2, :])
    expected = np.arange(24.0).reshape(4, 6)
    expected[::2, :] *= 2
    assert (whole == expected).all()
    transposed = np.arange(6.0).reshape(2, 3).T
    scale(1, 6, transposed)
    assert (transposed == 2 * np.arange(6.0).reshape(2, 3).T).all()


@pytest.mark.parametrize(
    "c_type, dtype, value",
    [
        ("bool", np.bool_, True),
        ("signed char", np.int8, -7),
        ("unsigned char", np.uint8, 200),
        ("short", np.int16, -300),
        ("unsigned short", np.uint16, 60000),
        ("int", np.int32, -70000),
        ("unsigned", np.uint32, 4000000000),
        ("long long", np.int64, -(1 << 40)),
        ("size_t", np.uint64, (1 << 64) - 1),
        ("half", np.float16, 1.5),
        ("float", np.float32, 0.1),
        ("double", np.float64, 0.1),
    ],
)
def test_numbers_arrive_as_they_are(c_type, dtype, value):
    include = "#include <cuda_fp16.h>\n"
    put = dslc.kernel(f"{include}__global__ void put({c_type} *out, {c_type} value) {{ out[threadIdx.x] = value; }}")
    out = np.zeros(3, dtype)
    put(1, 3, dslc.unset(out), value).assert_clean()
    assert (out == dtype(value)).all()
    # A NumPy scalar is the same number.
    put(1, 3, out, dtype(value)).assert_clean()
    assert (out == dtype(value)).all()


def test_a_template_by_its_instance():
    fill = dslc.kernel(TEXT, "fill<unsigned short, 3>")
    out = np.zeros(4, np.uint16)
    fill(1, 4, out, 4)
    assert out.tolist() == [7] * 4


def test_several_kernels_need_a_name():
    with pytest.raises(dslc.DslcError, match="a name is needed: apply, turn"):
        dslc.kernel(TEXT)
    with pytest.raises(dslc.DslcError, match="there is no kernel `aply` in `<source>`; it has `apply`, `turn`"):
        dslc.kernel(TEXT, "aply")


def test_a_missing_barrier_is_a_race():
    out = np.zeros(64, np.int32)
    turn = dslc.kernel(TEXT, "turn", defines={"SYNC": ""})
    report = turn(1, 64, out, shared=256)
    assert [finding.kind for finding in report.findings] == ["race"]
    with pytest.raises(dslc.NotCleanError, match=r"put `__syncthreads\(\)` between line 13 and line 15") as error:
        report.assert_clean()
    assert "test_kernel.py" in str(error.value)
    with pytest.raises(AssertionError):
        report.assert_clean()
    turn = dslc.kernel(TEXT, "turn")
    turn(1, 64, out, shared=256).assert_clean()
    assert out[0] == 63
    # No check is on.
    assert turn(1, 64, out, shared=256, checks=False).is_clean


def test_a_launch_that_does_not_end_has_a_report():
    turn = dslc.kernel(TEXT, "turn")
    with pytest.raises(dslc.LaunchError, match="extern __shared__"):
        turn(1, 64, np.zeros(64, np.int32))
    with pytest.raises(dslc.LaunchError, match="out of bounds") as error:
        turn(1, 64, np.zeros(63, np.int32), shared=256)
    assert error.value.report.findings[0].kind == "out_of_bounds"
    with pytest.raises(dslc.LaunchError, match="block dimension x is 2048"):
        turn(1, 2048, np.zeros(64, np.int32), shared=256)
    with pytest.raises(dslc.LaunchError, match="null"):
        turn(1, 64, None, shared=256)


def test_results_that_nobody_wrote():
    some = dslc.kernel("__global__ void some(int *out) { if (threadIdx.x < 5) out[threadIdx.x] = 1; }")
    with pytest.raises(dslc.LaunchError, match=r"argument 1, `int \*out`, is `unset`.*elements 5 to 7 were never written"):
        some(1, 8, dslc.unset(np.zeros(8, np.int32)))
    out = np.full(8, 9, np.int32)
    some(1, 8, out).assert_clean()
    assert out.tolist() == [1] * 5 + [9] * 3


@pytest.mark.parametrize(
    "arguments, error, message",
    [
        ((), TypeError, r"apply takes 4 arguments, not 0: apply\(float \*y"),
        ((np.zeros(4), None, b"12345678", 4), TypeError, r"argument 1, `float \*y`, wants an array of float32, not of float64"),
        ((np.zeros(4, ">f4"), None, b"12345678", 4), TypeError, "not of >f4"),
        ((3, None, b"12345678", 4), TypeError, "is a pointer: it takes a NumPy array, not int"),
        ((None, dslc.unset(np.zeros(4, "f4")), b"12345678", 4), TypeError, "is only read by the kernel"),
        ((None, None, b"1234567", 4), TypeError, r"argument 3, `Line line`, is a structure: it takes its 8 bytes"),
        ((None, None, b"12345678", 4.0), TypeError, r"argument 4, `int n`, takes a whole number, not 4.0"),
        ((None, None, b"12345678", 1 << 31), ValueError, "argument 4, `int n`, cannot hold 2147483648"),
    ],
)
def test_arguments_that_do_not_fit(arguments, error, message):
    with pytest.raises(error, match=message):
        dslc.kernel(TEXT, "apply")(1, 32, *arguments)


def test_a_read_only_array_is_not_written():
    scale = dslc.kernel("__global__ void scale(float *x) { x[0] = 1; }")
    array = np.zeros(1, np.float32)
    array.flags.writeable = False
    with pytest.raises(TypeError, match="the array is read-only"):
        scale(1, 1, array)


def test_shapes():
    put = dslc.kernel("__global__ void put(int *x) { x[0] = gridDim.y * 100 + blockDim.z; }")
    x = np.zeros(1, np.int32)
    put((1, 2), (1, 1, 3), x)
    assert x[0] == 203
    with pytest.raises(ValueError, match="grid has one to three extents, not 4"):
        put((1, 1, 1, 1), 1, x)
    with pytest.raises(ValueError, match="block has the extent -1"):
        put(1, -1, x)
    with pytest.raises(ValueError, match="order is"):
        put(1, 1, x, order="any")
    with pytest.raises(dslc.LaunchError, match="sm_90x"):
        put(1, 1, x, arch="sm_90x")


def test_counts_depend_on_the_architecture():
    column = dslc.kernel("__global__ void column(double *x) { __shared__ double s[64]; s[threadIdx.x] = 1; x[threadIdx.x] = s[threadIdx.x]; }")
    x = np.zeros(32)
    assert column(1, 32, x).site("s[threadIdx.x]", "load").transactions == 2
    assert column(1, 32, x, arch="sm_90").metric("shared_load_transactions") == 2
    assert column(1, 32, x).metric("gst_efficiency") == 1.0
    with pytest.raises(dslc.NotFoundError, match="near it: gst_efficiency"):
        column(1, 32, x).metric("gst_eficiency")


def test_a_huge_grid_is_counted():
    copy = dslc.kernel("__global__ void copy(float *y, const float *x, int n) { int i = blockIdx.x * blockDim.x + threadIdx.x; if (i < n) y[i] = x[i]; }")
    x = np.zeros(1 << 20, np.float32)
    report = copy(1 << 12, 256, x, x, 1 << 20, count_only=True)
    assert report.site("x[i]").sectors == 1 << 17


def test_the_compilers_messages():
    with pytest.raises(dslc.CompileError, match=r"there is no variable `y`") as error:
        dslc.kernel("__global__ void k(int *x) {\n    *x = y;\n}")
    assert "<source>:2:10" in str(error.value)
    with pytest.raises(dslc.CompileError, match="has no kernel"):
        dslc.kernel("int main() { return 0; }")


def test_files_include_what_lies_beside_them(tmp_path):
    (tmp_path / "size.h").write_text("#define SIZE 8\n")
    (tmp_path / "k.cu").write_text('#include "size.h"\n__global__ void k(int *x) { x[0] = SIZE; }\n')
    x = np.zeros(1, np.int32)
    for source in (tmp_path / "k.cu", str(tmp_path / "k.cu")):
        dslc.kernel(source)(1, 1, x)
        assert x[0] == 8
    text = (tmp_path / "k.cu").read_text()
    with pytest.raises(dslc.CompileError, match=r"(?s)size\.h.*there is no variable `SIZE`"):
        dslc.kernel(text)
    dslc.kernel(text, include=[tmp_path])(1, 1, x)
    with pytest.raises(dslc.DslcError, match="cannot read `nothing.cu`"):
        dslc.kernel("nothing.cu")


def test_threads_launch_side_by_side():
    from concurrent.futures import ThreadPoolExecutor

    add = dslc.kernel("__global__ void add(int *x, int n) { x[threadIdx.x] += n; }")

    def work(n):
        x = np.zeros(32, np.int32)
        add(1, 32, x, n, jobs=1).assert_clean()
        return int(x[31])

    with ThreadPoolExecutor(8) as pool:
        assert list(pool.map(work, range(64))) == list(range(64))


def test_the_example_finds_that_padding_helps():
    done = subprocess.run([sys.executable, ROOT / "python/examples/tune_transpose.py"], capture_output=True, text=True, check=True)
    rows = [list(map(int, line.split())) for line in done.stdout.splitlines()[1:]]
    assert len(rows) == 12
    # A pass for each request, and no larger padding.
    best = [row[:2] for row in rows if row[2] == 2048]
    assert best == [[16, 2], [32, 1], [64, 1]], done.stdout
    assert [row[:2] for row in rows[-3:]] == [[16, 0], [32, 0], [64, 0]]


SHIFT = """
__global__ void shift(int *to, const int *from, int n) {
    int i = threadIdx.x;
    if (i < n) to[i] = from[i];
}
"""


def test_arrays_that_share_memory_share_it_on_the_device():
    shift = dslc.kernel(SHIFT)
    x = np.arange(33, dtype=np.int32)
    # One warp reads everything before it writes, which nothing guarantees; two warps race.
    report = shift(1, 32, x[1:], x[:-1], 32)
    assert [finding.code for finding in report.findings] == ["R0207"]
    assert x.tolist() == [0, *range(32)]
    x = np.arange(65, dtype=np.int32)
    report = shift(1, 64, x[1:], x[:-1], 64)
    assert [finding.kind for finding in report.findings] == ["race"]
    # The same array twice, where one of the arguments is only read.
    y = np.arange(64, dtype=np.int32)
    shift(1, 64, y, y, 64).assert_clean()
    # Adjacent slices share no element.
    z = np.arange(64, dtype=np.int32)
    shift(1, 32, z[32:], z[:32], 32).assert_clean()
    assert z.tolist() == [*range(32), *range(32)]
    # An offset is the same on the device: wide loads need their alignment.
    wide = dslc.kernel("__global__ void wide(const float4 *x, float4 *y) { y[threadIdx.x] = x[threadIdx.x]; }")
    w = np.zeros(33, np.float32)
    with pytest.raises(dslc.LaunchError, match="misaligned"):
        wide(1, 1, w[1:].view("V16"), w[:32].view("V16"))


def test_strided_arrays_that_share_elements_are_refused():
    shift = dslc.kernel(SHIFT)
    x = np.arange(64, dtype=np.int32)
    with pytest.raises(ValueError, match=r"argument 1, `int \*to`, shares elements with argument 2, and does not lie in one piece: pass a copy"):
        shift(1, 32, x[::2], x[:32], 32)
    shift(1, 32, x[::2], x[1::2], 32).assert_clean()
    assert x.tolist() == [i | 1 for i in range(64)]


def test_arrays_stay_on_the_device():
    half = dslc.kernel("__global__ void half(int *out, int from) { out[from + threadIdx.x] = from + threadIdx.x; }")
    out = dslc.device_array(64, np.int32)
    half(1, 32, out, 0).assert_clean()
    with pytest.raises(dslc.DslcError, match=r"elements 32 to 63 were never written, of 64 that are read"):
        out.copy_to_host()
    assert out[:32].copy_to_host().tolist() == list(range(32))
    # A kernel that reads uninitialised memory has a finding, also in a later launch.
    sums = dslc.kernel("__global__ void sums(int *to, const int *from) { to[threadIdx.x] = from[threadIdx.x] + 1; }")
    report = sums(1, 64, dslc.unset(np.zeros(64, np.int32)), out)
    assert [finding.kind for finding in report.findings] == ["uninitialized"]
    half(1, 32, out, 32).assert_clean()
    assert out.get().tolist() == list(range(64))
    x = dslc.to_device(np.arange(64, dtype=np.int32))
    sums(1, 64, x, x).assert_clean()
    sums(1, 32, x[32:], x[:32]).assert_clean()
    assert x.copy_to_host().tolist() == [*range(1, 33), *range(2, 34)]
    x.copy_to_device(np.zeros(64, np.int32))
    assert x.copy_to_host().sum() == 0
    assert (x.shape, x.dtype, x.nbytes, len(x)) == ((64,), np.int32, 256, 64)
    with pytest.raises(TypeError, match="a part of a device array is a slice"):
        x[3]


def test_launches_as_numba_and_cupy_write_them():
    turn = dslc.kernel(TEXT, "turn")
    out = np.zeros(64, np.int32)
    report = turn[1, 64, 0, 256](out)
    report.assert_clean()
    assert out[0] == 63
    with pytest.raises(ValueError, match=r"written `kernel\[grid, block\]`, not with 1 values"):
        turn[64]
    out[:] = 0
    turn((1,), (64,), (out,), shared_mem=256).assert_clean()
    assert out[0] == 63
    with pytest.raises(TypeError, match="a launch has no option 'sharde'"):
        turn[1, 64](out, sharde=256)


def test_a_launch_shape_is_of_whole_numbers():
    turn = dslc.kernel(TEXT, "turn")
    with pytest.raises(TypeError, match=r"grid has the extent 1.5; it takes a whole number, so divide with `//`"):
        turn(96 / 64, 64, np.zeros(64, np.int32), shared=256)
    turn(np.int64(1), np.uint32(64), np.zeros(64, np.int32), shared=256).assert_clean()


def test_too_much_static_shared_memory_is_refused():
    big = dslc.kernel("__global__ void big(float *x) { __shared__ float s[17000]; s[threadIdx.x] = x[threadIdx.x]; x[0] = s[0]; }")
    with pytest.raises(dslc.LaunchError, match="68000 bytes of static shared memory per block; the limit is 49152"):
        big(1, 1, np.zeros(1, np.float32))


def test_what_is_no_numpy_array_says_how_to_make_one():
    shift = dslc.kernel(SHIFT)
    with pytest.raises(TypeError, match=r"takes a NumPy array, not list; `numpy.array\(…, dtype\)` makes one of it"):
        shift(1, 32, [0] * 32, np.zeros(32, np.int32), 32)


def test_ptx_is_a_source():
    path = ROOT / "ptx" / "tests" / "texts" / "axpy.ptx"
    axpy = dslc.kernel(path)
    assert axpy.prototype == "axpy(void *x, void *y, float a, unsigned n)"
    x, y = np.arange(100, dtype=np.float32), np.ones(100, np.float32)
    report = axpy(1, 128, x, y, 2.0, 100)
    report.assert_clean()
    assert (y == 2 * x + 1).all()
    assert report.metric("global_load_sectors") == 26
    with pytest.raises(dslc.CompileError, match="no register `%r1` is declared here"):
        dslc.kernel(".version 8.0\n.target sm_90\n.address_size 64\n.visible .entry k() { mov.u32 %r1, 0; }")


def test_counts_of_the_compiled_kernel():
    rows = dslc.kernel(
        """
        __global__ void rows(const float *in, float *out)
        {
            __shared__ float tile[128];
            int t = threadIdx.x;
            for (int i = 0; i < 4; i++) tile[i * 32 + t] = in[i * 32 + t];
            __syncthreads();
            float sum = 0;
            for (int i = 0; i < 4; i++) sum += tile[t * 4 + i];
            out[t] = sum;
        }
        """
    )
    values, out = np.arange(128, dtype=np.float32), np.zeros(32, np.float32)
    written, both, compiled = (rows(1, 32, values, out, counts=counts) for counts in ("written", "both", "compiled"))
    assert np.array_equal(out, values.reshape(32, 4).sum(axis=1))
    # The compiler makes one load of four.
    assert [report.site("tile[t * 4 + i]", "load").requests for report in (written, both, compiled)] == [4, 4, 1]
    assert written.site("tile[t * 4 + i]", "load").compiled is None
    assert both.site("tile[t * 4 + i]", "load").compiled == dslc.Compiled(1, 4, None, (16,))
    assert [row["compiled_requests"] for row in both.rows() if row["text"] == "tile[t * 4 + i]"] == [1]
    with pytest.raises(ValueError, match="'written', 'compiled' or 'both'"):
        rows(1, 32, values, out, counts="source")
