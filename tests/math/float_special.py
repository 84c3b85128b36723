"""The polynomials of dsl/library/math_float_gamma.k: weighted least squares at Chebyshev's points, where the coefficients
are rounded to `float` one after the other, the lowest first, and the rest fitted again. Needs mpmath; prints them as they stand there, and on
stderr log2 of the largest error of each (relative, but for what says otherwise) with exact arithmetic.

    python3 float_special.py           all
    python3 float_special.py gamma     those whose names have this in them
"""
import struct
import sys
import mpmath as m
from mpmath import mpf

m.mp.prec = 160


def single(x):
    return mpf(struct.unpack("f", struct.pack("f", float(x)))[0])


def text(x):
    """The shortest decimal number that is this `float`."""
    for digits in range(1, 10):
        t = f"{float(x):.{digits}g}"
        if single(t) == x:
            break
    return (t if "." in t or "e" in t else t + ".0") + "f"


def solve(points, values, weights, c, degree):
    """The coefficients after those in c."""
    left = list(range(len(c), degree + 1))
    rest = [v - m.polyval(c[::-1], t) if c else v for t, v in zip(points, values)]
    rows = m.matrix(len(points), len(left))
    right = m.matrix(len(points), 1)
    for i, (t, w) in enumerate(zip(points, weights)):
        for j, k in enumerate(left):
            rows[i, j] = w * t**k
        right[i] = w * rest[i]
    return list(m.lu_solve(rows.T * rows, rows.T * right))


def fit(f, a, b, degree, absolute=False, first=()):
    """Coefficients of f(t), t from a to b; `first` are given."""
    a, b = mpf(a), mpf(b)
    count = 5 * (degree + 1)
    points = [(a + b) / 2 + (b - a) / 2 * m.cos(m.pi * (2 * k + 1) / (2 * count)) for k in range(count)]
    values = [f(t) for t in points]
    weights = [mpf(1) if absolute else 1 / abs(v) for v in values]
    c = list(first)
    while len(c) <= degree:
        c.append(single(solve(points, values, weights, c, degree)[0]))
    error = max(abs(m.polyval(c[::-1], t) - v) * w for t, v, w in zip(points, values, weights))
    return c, float(m.log(error, 2))


def show(name, variable, comment, f, a, b, degree, absolute=False, first=()):
    if len(sys.argv) > 1 and sys.argv[1] not in name:
        return
    c, error = fit(f, a, b, degree, absolute, [single(v) for v in first])
    print(f"// {comment}")
    print(f"__host__ __device__ float {name}(float {variable}) {{")
    print(f"    float p = {text(c[-1])};")
    for v in c[-2:0:-1]:
        print(f"    p = fmaf(p, {variable}, {text(v)});")
    print(f"    return fmaf(p, {variable}, {text(c[0])});\n}}\n")
    print(name, "absolute" if absolute else "", round(error, 1), file=sys.stderr)


def near(limit, f):
    """f, with its limit where its argument is next to 0."""
    return lambda t: f(t) if abs(t) > mpf(10) ** -15 else mpf(limit)


# The gamma function.

show("__dslc_gamma_2f", "t", "gamma(2 + t) for |t| <= 1/2", lambda t: m.gamma(2 + t), -0.5, 0.5, 9, first=[1])
show("__dslc_lgamma_1f", "s", "lgamma(1 + s) / s for |s| <= 1/2", near(-m.euler, lambda s: m.loggamma(1 + s) / s), -0.5, 0.5, 14)
show("__dslc_lgamma_2f", "t", "lgamma(2 + t) / t for t from -1/2 to 1", near(1 - m.euler, lambda t: m.loggamma(2 + t) / t), -0.5, 1, 10)


def stirling(w):
    if w < mpf(10) ** -6:
        return mpf(1) / 12 - w / 360 + w * w / 1260
    x = 1 / m.sqrt(w)
    return x * (m.loggamma(x) - (x - 0.5) * m.log(x) + x - m.log(2 * m.pi) / 2)


show("__dslc_stirling_tailf", "w", "x (lgamma(x) - ((x - 1/2) log(x) - x + log(2 pi) / 2)), absolutely, with w = 1 / x^2, x from 2.5", stirling, 0, "0.16", 3, True)
