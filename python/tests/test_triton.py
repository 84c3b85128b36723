"""Triton kernels on the simulator give what NumPy gives."""

import numpy as np
import pytest

import dslc

pytest.importorskip("triton", reason="Triton is not installed")
import dslc.triton  # noqa: E402
import triton  # noqa: E402
import triton.language as tl  # noqa: E402


@triton.jit
def add(x, y, out, n, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    here = i < n
    tl.store(out + i, tl.load(x + i, mask=here) + tl.load(y + i, mask=here), mask=here)


@triton.jit
def softmax(x, out, n, stride, BLOCK: tl.constexpr):
    row = tl.program_id(0)
    i = tl.arange(0, BLOCK)
    v = tl.load(x + row * stride + i, mask=i < n, other=float("-inf"))
    e = tl.exp(v - tl.max(v, axis=0))
    tl.store(out + row * stride + i, e / tl.sum(e, axis=0), mask=i < n)


@triton.jit
def layer_norm(x, w, b, out, n, eps, BLOCK: tl.constexpr):
    row = tl.program_id(0)
    i = tl.arange(0, BLOCK)
    v = tl.load(x + row * n + i, mask=i < n, other=0.0)
    d = tl.where(i < n, v - tl.sum(v, axis=0) / n, 0.0)
    scale = 1 / tl.sqrt(tl.sum(d * d, axis=0) / n + eps)
    tl.store(out + row * n + i, d * scale * tl.load(w + i, mask=i < n) + tl.load(b + i, mask=i < n), mask=i < n)


@triton.jit
def transpose(x, out, m, n, BLOCK: tl.constexpr):
    r = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    c = tl.program_id(1) * BLOCK + tl.arange(0, BLOCK)
    v = tl.load(x + r[:, None] * n + c[None, :], mask=(r[:, None] < m) & (c[None, :] < n))
    tl.store(out + c[:, None] * m + r[None, :], tl.trans(v), mask=(c[:, None] < n) & (r[None, :] < m))


@triton.jit
def count(x, bins, n, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    tl.atomic_add(bins + tl.load(x + i, mask=i < n, other=0), 1, mask=i < n)


@triton.jit
def running_sum(x, out, BLOCK: tl.constexpr):
    i = tl.arange(0, BLOCK)
    tl.store(out + i, tl.cumsum(tl.load(x + i), axis=0))


@triton.jit
def product(a, b, c, n, BLOCK: tl.constexpr):
    r = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    s = tl.program_id(1) * BLOCK + tl.arange(0, BLOCK)
    k = tl.arange(0, BLOCK)
    total = tl.zeros((BLOCK, BLOCK), dtype=tl.float32)
    for at in range(0, n, BLOCK):
        x = tl.load(a + r[:, None] * n + (at + k)[None, :])
        y = tl.load(b + (at + k)[:, None] * n + s[None, :])
        total += tl.dot(x, y, input_precision="ieee")
    tl.store(c + r[:, None] * n + s[None, :], total)


@pytest.fixture
def random():
    return np.random.default_rng(1)


def floats(random, *shape):
    return random.normal(size=shape).astype(np.float32)


def test_sum_of_arrays(random):
    x, y, out = floats(random, 1000), floats(random, 1000), np.zeros(1000, np.float32)
    report = dslc.triton.run(add, (4,), x, y, dslc.unset(out), 1000, BLOCK=256)
    report.assert_clean()
    np.testing.assert_array_equal(out, x + y)
    # 1000 is no multiple of 16, so each thread loads its two neighbours one by one: a warp touches each sector twice.
    assert report.metric("global_load_sectors") == 2 * 2 * 125


def test_a_multiple_of_16_makes_wide_loads(random):
    x, y, out = floats(random, 1024), floats(random, 1024), np.zeros(1024, np.float32)
    report = dslc.triton.run(add, (4,), x, y, out, 1024, BLOCK=256)
    assert report.metric("global_load_sectors") == 2 * 128


def test_too_many_elements_are_found(random):
    x, y, out = floats(random, 1000), floats(random, 990), np.zeros(1000, np.float32)
    with pytest.raises(dslc.LaunchError, match="element 990 of") as raised:
        dslc.triton.run(add, lambda named: (triton.cdiv(named["n"], named["BLOCK"]),), x, y, out, n=1000, BLOCK=256)
    assert "test_triton.py:" in str(raised.value)


def test_softmax(random):
    x, out = floats(random, 4, 100), np.zeros((4, 100), np.float32)
    dslc.triton.run(softmax, (4,), x, out, 100, 100, BLOCK=128, num_warps=2)
    e = np.exp(x - x.max(1, keepdims=True))
    np.testing.assert_allclose(out, e / e.sum(1, keepdims=True), rtol=1e-5)


def test_layer_norm(random):
    x, w, b, out = floats(random, 3, 100), floats(random, 100), floats(random, 100), np.zeros((3, 100), np.float32)
    dslc.triton.run(layer_norm, (3,), x, w, b, out, 100, 1e-5, BLOCK=128)
    expected = (x - x.mean(1, keepdims=True)) / np.sqrt(x.var(1, keepdims=True) + 1e-5) * w + b
    np.testing.assert_allclose(out, expected, rtol=1e-3, atol=1e-4)


def test_transpose(random):
    x, out = floats(random, 70, 50), np.zeros((50, 70), np.float32)
    report = dslc.triton.run(transpose, (3, 2), x, out, 70, 50, BLOCK=32)
    report.assert_clean()
    np.testing.assert_array_equal(out, x.T)


def test_atomics(random):
    x = random.integers(0, 10, 600).astype(np.int32)
    bins = np.zeros(10, np.int32)
    dslc.triton.run(count, 2, x, bins, 600, BLOCK=512)
    np.testing.assert_array_equal(bins, np.bincount(x, minlength=10))


def test_running_sum(random):
    x, out = random.integers(0, 9, 256).astype(np.int32), np.zeros(256, np.int32)
    dslc.triton.run(running_sum, 1, x, out, BLOCK=256)
    np.testing.assert_array_equal(out, np.cumsum(x))


def test_product(random):
    a, b, c = floats(random, 64, 64), floats(random, 64, 64), np.zeros((64, 64), np.float32)
    dslc.triton.run(product, (2, 2), a, b, c, 64, BLOCK=32, num_stages=1)
    np.testing.assert_allclose(c, a @ b, rtol=1e-4, atol=1e-4)


def test_arguments_that_do_not_fit(random):
    x = floats(random, 32)
    with pytest.raises(TypeError, match="arguments are missing: out, n, BLOCK"):
        dslc.triton.run(add, 1, x, x)
    with pytest.raises(TypeError, match="the function has no argument 'm'"):
        dslc.triton.run(add, 1, x, x, x, 32, m=1)
    with pytest.raises(TypeError, match="a function with `@triton.jit` is expected, not int"):
        dslc.triton.run(3, 1, x)
    with pytest.raises(TypeError, match="'x' is a NumPy array or a number, not list"):
        dslc.triton.run(add, 1, [1.0], x, x, 32, BLOCK=32)
