"""The polynomials of dsl/library/math_float_gamma.k and math_float_bessel.k: weighted least squares at Chebyshev's points, where the coefficients
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

# Bessel functions.

J = lambda n: lambda x: m.besselj(n, x)
Y = lambda n: lambda x: m.bessely(n, x)


def around(name, f, which, zero, a, b, degree):
    """f(x) / (x - zero) around a zero, by t = x - z, where z is the nearest `float`."""
    high = single(zero)
    low = single(zero - high)

    def quotient(t):
        x = high + t
        return f(x) / (x - zero) if abs(x - zero) > mpf(10) ** -20 else m.diff(f, zero)
    show(name, "t", f"{which}(x) / (x - z), t = x - {text(high)}, z = that {'-' if low < 0 else '+'} {text(abs(low))}; x from {a} to {b}",
         quotient, mpf(a) - high, mpf(b) - high, degree)


def plain(name, f, which, a, b, degree, shift):
    show(name, "t", f"{which}(x), t = x - {shift}; x from {a} to {b}", lambda t: f(t + shift), mpf(a) - shift, mpf(b) - shift, degree)


def even(f, n=0):
    """f(x) / x^n by x^2."""
    return lambda z: f(m.sqrt(z)) / m.sqrt(z) ** n


show("__dslc_j0f_a", "z", "j0(x), z = x^2; x from 0 to 1", near(1, even(J(0))), 0, 1, 4, first=[1])
around("__dslc_j0f_b", J(0), "j0", m.besseljzero(0, 1), 1, 4, 9)
around("__dslc_j0f_c", J(0), "j0", m.besseljzero(0, 2), 4, 8, 10)
show("__dslc_j1f_a", "z", "j1(x) / x, z = x^2; x from 0 to 2", near("0.5", even(J(1), 1)), 0, 4, 5, first=[0.5])
around("__dslc_j1f_b", J(1), "j1", m.besseljzero(1, 1), 2, "5.5", 10)
around("__dslc_j1f_c", J(1), "j1", m.besseljzero(1, 2), "5.5", 8, 9)


def rest0(z):
    x = m.sqrt(z)
    return Y(0)(x) - 2 / m.pi * m.log(x) * J(0)(x)


def rest1(z):
    x = m.sqrt(z)
    return (Y(1)(x) - 2 / m.pi * (m.log(x) * J(1)(x) - 1 / x)) / x


show("__dslc_y0f_a", "z", "y0(x) - 2/pi log(x) j0(x), z = x^2; x from 0 to 1/2", near(2 / m.pi * (m.euler - m.log(2)), rest0), 0, "0.25", 3)
around("__dslc_y0f_b", Y(0), "y0", m.besselyzero(0, 1), "0.5", "1.5", 12)
plain("__dslc_y0f_c", Y(0), "y0", "1.5", 3, 9, mpf("2.25"))
around("__dslc_y0f_d", Y(0), "y0", m.besselyzero(0, 2), 3, "5.5", 9)
around("__dslc_y0f_e", Y(0), "y0", m.besselyzero(0, 3), "5.5", 8, 8)
show("__dslc_y1f_a", "z", "(y1(x) - 2/pi (log(x) j1(x) - 1/x)) / x, z = x^2; x from 0 to 1/2", near((2 * m.euler - 1 - 2 * m.log(2)) / (2 * m.pi), rest1), 0, "0.25", 3)
plain("__dslc_y1f_b", Y(1), "y1", "0.5", "1.5", 14, mpf(1))
around("__dslc_y1f_c", Y(1), "y1", m.besselyzero(1, 1), "1.5", 3, 10)
plain("__dslc_y1f_d", Y(1), "y1", 3, "4.25", 9, mpf("3.625"))
around("__dslc_y1f_e", Y(1), "y1", m.besselyzero(1, 2), "4.25", "6.75", 9)
plain("__dslc_y1f_f", Y(1), "y1", "6.75", 8, 7, mpf("7.375"))


def amplitude(n):
    """J = A cos(x - (2 n + 1) pi / 4 + B), Y = A sin(the same): A sqrt(x)."""
    def of(w):
        x = 1 / m.sqrt(w)
        return m.sqrt(x * (m.besselj(n, x) ** 2 + m.bessely(n, x) ** 2))
    return near(m.sqrt(2 / m.pi), of)


def phase(n):
    """B x."""
    def of(w):
        if w < mpf(10) ** -15:
            return mpf(4 * n * n - 1) / 8
        x = 1 / m.sqrt(w)
        turn = m.expjpi(mpf(2 * n + 1) / 4) * m.expj(-x)
        return x * m.arg((m.besselj(n, x) + m.mpc(0, 1) * m.bessely(n, x)) * turn)
    return of


for n in 0, 1:
    show(f"__dslc_bessel_size{n}f", "w", f"A sqrt(x) of order {n}, w = 1 / x^2; x from 8", amplitude(n), 0, mpf(1) / 64, 3)
    show(f"__dslc_bessel_phase{n}f", "w", f"B x of order {n}, absolutely, w = 1 / x^2; x from 8", phase(n), 0, mpf(1) / 64, 3, True)
show("__dslc_bessel_cosf", "z", "cos(r), absolutely, z = r^2; |r| up to 1.6", even(m.cos), 0, "2.56", 5, True, [1])

for n in 0, 1:
    show(f"__dslc_i{n}f_a", "z", f"i{n}(x)" + (" / x" if n else "") + ", z = x^2; x from 0 to 7",
         near(mpf(1) / (n + 1), even(lambda x: m.besseli(n, x), n)), 0, 49, 9, first=[mpf(1) / (n + 1)])
    show(f"__dslc_i{n}f_b", "r", f"i{n}(x) sqrt(x) / e^x, r = 1 / x; x from 7",
         near(1 / m.sqrt(2 * m.pi), lambda r: m.besseli(n, 1 / r) * m.exp(-1 / r) / m.sqrt(r)), 0, mpf(1) / 7, 7)
