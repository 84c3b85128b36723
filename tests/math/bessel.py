"""The polynomials of dsl/library/math_bessel.k: interpolation at Chebyshev's points. Needs mpmath; prints them as they stand there, and on stderr the largest error of each,
relative to the largest value of the piece."""
import sys
import mpmath as m
from mpmath import mpf

m.mp.prec = 200


def fit(f, a, b, degree, shift):
    """Coefficients in t = x - shift, x from a to b."""
    a, b, n = mpf(a), mpf(b), degree + 1
    middle, half = (a + b) / 2, (b - a) / 2
    nodes = [m.cos(m.pi * (2 * k + 1) / (2 * n)) for k in range(n)]
    values = [f(middle + half * u) for u in nodes]
    # Chebyshev's series, then powers of u, then of t = middle - shift + half u.
    series = [2 * sum(values[k] * m.cos(j * m.acos(nodes[k])) for k in range(n)) / n for j in range(n)]
    series[0] /= 2
    before, now = [mpf(1)], [mpf(0), mpf(1)]
    powers = [mpf(0)] * n
    for j in range(n):
        polynomial = before if j == 0 else now
        for i, c in enumerate(polynomial):
            powers[i] += series[j] * c
        if j > 0:
            after = [mpf(0)] + [2 * c for c in now]
            for i, c in enumerate(before):
                after[i] -= c
            before, now = now, after
    scale, offset = 1 / half, (mpf(shift) - middle) / half
    result = [mpf(0)] * n
    for i, c in enumerate(powers):
        for k in range(i + 1):
            result[k] += c * m.binomial(i, k) * offset ** (i - k) * scale**k
    c = [float(v) for v in result]
    points = [a + (b - a) * (mpf(i) + mpf("0.37")) / 200 for i in range(200)]
    most = max(abs(f(x)) for x in points)
    error = max(abs(m.polyval(result[::-1], x - shift) - f(x)) for x in points) / most
    return c, float(error)


def show(name, variable, comment, c, error):
    print(f"// {comment}")
    print(f"__host__ __device__ double {name}(double {variable}) {{")
    print(f"    double p = {c[-1]!r};")
    for v in c[-2::-1]:
        print(f"    p = fma(p, {variable}, {v!r});")
    print("    return p;\n}\n")
    print(name, error, len(c), file=sys.stderr)


def around(name, f, which, zero, a, b, degree):
    """f(x) / (x - zero) around a zero."""
    def quotient(x):
        return f(x) / (x - zero) if abs(x - zero) > mpf(10) ** -25 else m.diff(f, zero)
    c, error = fit(quotient, a, b, degree, float(zero))
    high = float(zero)
    low = float(zero - high)
    show(name, "t", f"{which}(x) / (x - z), t = x - z, z = {high!r} + {low!r}; x from {a} to {b}", c, error)


def plain(name, f, which, a, b, degree, shift):
    c, error = fit(f, a, b, degree, shift)
    show(name, "t", f"{which}(x), t = x - {shift}; x from {a} to {b}", c, error)


def j(n):
    return lambda x: m.besselj(n, x)


def y(n):
    return lambda x: m.bessely(n, x)


c, error = fit(lambda z: (m.besselj(0, m.sqrt(z)) - 1) / z if z > mpf(10) ** -25 else mpf(-0.25), 0, 1, 6, 0)
show("__dslc_j0_small", "z", "(j0(x) - 1) / x^2, z = x^2; x from 0 to 1", c, error)
around("__dslc_j0_a", j(0), "j0", m.besseljzero(0, 1), 1, 4, 16)
around("__dslc_j0_b", j(0), "j0", m.besseljzero(0, 2), 4, 8, 18)
c, error = fit(lambda z: m.besselj(1, m.sqrt(z)) / m.sqrt(z) if z else mpf(0.5), 0, 4, 8, 0)
show("__dslc_j1_a", "z", "j1(x) / x, z = x^2; x from 0 to 2", c, error)
around("__dslc_j1_b", j(1), "j1", m.besseljzero(1, 1), 2, 5.5, 16)
around("__dslc_j1_c", j(1), "j1", m.besseljzero(1, 2), 5.5, 8, 14)


def rest0(z):
    x = m.sqrt(z)
    if z < mpf(10) ** -40:
        return 2 / m.pi * m.euler
    return m.bessely(0, x) - 2 / m.pi * m.log(x / 2) * m.besselj(0, x)


def rest1(z):
    x = m.sqrt(z)
    if z < mpf(10) ** -20:
        z = mpf(10) ** -20
        x = m.sqrt(z)
    return (m.bessely(1, x) - 2 / m.pi * (m.log(x / 2) * m.besselj(1, x) - 1 / x)) / x


c, error = fit(rest0, 0, 0.1225, 5, 0)
show("__dslc_y0_rest", "z", "y0(x) - 2/pi log(x/2) j0(x), z = x^2; x from 0 to 0.35", c, error)
plain("__dslc_y0_a", y(0), "y0", 0.35, 0.7, 20, 0.525)
around("__dslc_y0_b", y(0), "y0", m.besselyzero(0, 1), 0.7, 1.4, 20)
plain("__dslc_y0_c", y(0), "y0", 1.4, 2.8, 20, 2.125)
around("__dslc_y0_d", y(0), "y0", m.besselyzero(0, 2), 2.8, 5.5, 20)
around("__dslc_y0_e", y(0), "y0", m.besselyzero(0, 3), 5.5, 8, 14)
c, error = fit(rest1, 0, 0.1225, 5, 0)
show("__dslc_y1_rest", "z", "(y1(x) - 2/pi (log(x/2) j1(x) - 1/x)) / x, z = x^2; x from 0 to 0.35", c, error)
plain("__dslc_y1_a", y(1), "y1", 0.35, 0.7, 21, 0.525)
plain("__dslc_y1_b", y(1), "y1", 0.7, 1.4, 21, 1.0625)
around("__dslc_y1_c", y(1), "y1", m.besselyzero(1, 1), 1.4, 2.9, 21)
plain("__dslc_y1_d", y(1), "y1", 2.9, 4.2, 17, 3.5)
around("__dslc_y1_e", y(1), "y1", m.besselyzero(1, 2), 4.2, 6.8, 18)
plain("__dslc_y1_f", y(1), "y1", 6.8, 8, 12, 7.375)


def amplitude(n, sine):
    """Of J = sqrt(2 / (pi x)) (p cos(x') - q sin(x')), Y = … (p sin(x') + q cos(x')): p, or q x; by w = 64 / x^2."""
    def of(w):
        if w < mpf(10) ** -25:
            mu = 4 * n * n
            return mpf(mu - 1) / 8 if sine else mpf(1)
        x = 8 / m.sqrt(w)
        a = x - m.pi / 4 * (2 * n + 1)
        s, c = m.sin(a), m.cos(a)
        scale = m.sqrt(m.pi * x / 2)
        J, Y = m.besselj(n, x), m.bessely(n, x)
        return x * scale * (Y * c - J * s) if sine else scale * (J * c + Y * s)
    return of


for n in (0, 1):
    for sine, letter in ((False, "p"), (True, "q")):
        for piece, a, b, degree in (("near", 0.25, 1, 11), ("far", 0, 0.25, 8)):
            f = amplitude(n, sine)
            c, error = fit(f, a, b, degree, 0.625 if a else 0)
            what = ("x q" if sine else "p") + f" of order {n}, " + ("t = w - 0.625, x from 8 to 16" if a else "x above 16")
            show(f"__dslc_bessel_{letter}{n}_{piece}", "t" if a else "w", what, c, error)

for n in (0, 1):
    def small(z, n=n):
        x = m.sqrt(z)
        return m.besseli(n, x) / (x if n else 1) if z else mpf(1) / (2 if n else 1)
    c, error = fit(small, 0, 64, 16, 0)
    show(f"__dslc_i{n}_small", "z", f"i{n}(x)" + (" / x" if n else "") + ", z = x^2; x from 0 to 8", c, error)

    def large(r, n=n):
        if r < mpf(10) ** -12:
            return 1 / m.sqrt(2 * m.pi) * (1 - (4 * n * n - 1) * r / 8)
        return m.besseli(n, 1 / r) * m.exp(-1 / r) / m.sqrt(r)
    c, error = fit(large, mpf(1) / 20, mpf(1) / 8, 17, 0.0875)
    show(f"__dslc_i{n}_near", "t", f"i{n}(x) sqrt(x) / e^x, t = 1/x - 0.0875; x from 8 to 20", c, error)
    c, error = fit(large, 0, mpf(1) / 20, 12, 0)
    show(f"__dslc_i{n}_far", "r", f"i{n}(x) sqrt(x) / e^x, r = 1/x; x above 20", c, error)
