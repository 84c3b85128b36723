"""The polynomials of the double functions of dsl/library/math_*.k: interpolation at Chebyshev's points. Needs mpmath; prints each with its largest error."""
import mpmath as m
from mpmath import mpf

m.mp.prec = 400


def fit(f, a, b, degree):
    a, b, n = mpf(a), mpf(b), degree + 1
    xs = [(a + b) / 2 + (b - a) / 2 * m.cos(m.pi * (2 * k + 1) / (2 * n)) for k in range(n)]
    rows = m.matrix(n, n)
    for i in range(n):
        for j in range(n):
            rows[i, j] = xs[i] ** j
    c = [float(v) for v in m.lu_solve(rows, m.matrix([f(x) for x in xs]))]
    points = [a + (b - a) * (mpf(i) + mpf("0.37")) / 202 for i in range(201)]
    return c, max(abs(m.polyval(c[::-1], x) - f(x)) for x in points)


def series(term):
    return lambda z: sum(term(k) * z**k for k in range(60))


def odd(f, sign):
    """(f(t) - t) / t^3 with z = t^2."""
    return lambda z: (f(m.sqrt(z)) - m.sqrt(z)) / m.sqrt(z) ** 3 if z > mpf(10) ** -6 else mpf(sign) / abs(3 if sign < 0 else 6)


def erfcx(t):
    x = 4 * (1 + t) / (1 - t)
    return m.exp(x * x) * m.erfc(x) * (1 + 2 * x)


half_ln2, s2, quarter = mpf("0.34665"), mpf("0.02945"), (m.pi / 4 + mpf("1e-6")) ** 2
exp = lambda r: sum(r**k / m.factorial(k + 2) for k in range(40))
exp3 = lambda r: sum(r**k / m.factorial(k + 3) for k in range(40))
log = series(lambda k: mpf(2) / (2 * k + 3))
log5 = series(lambda k: mpf(2) / (2 * k + 5))
sin = series(lambda k: (-1) ** (k + 1) / m.factorial(2 * k + 3))
cos = series(lambda k: (-1) ** k / m.factorial(2 * k + 4))
for name, f, a, b, degree in [
    ("exp_tail", exp3, -half_ln2, half_ln2, 10),
    ("log_tail", log, 0, s2, 7),
    ("log_tail5", log5, 0, s2, 7),
    ("sin_tail", sin, 0, quarter, 6),
    ("cos_tail", cos, 0, quarter, 6),
    ("atan_tail", odd(m.atan, -1), 0, "0.1716", 11),
    ("asin_tail", odd(m.asin, 1), 0, "0.25", 12),
    ("erf_tail", lambda z: m.erf(m.sqrt(z)) / m.sqrt(z) - 1, 0, 1, 14),
    ("erfc_scaled", erfcx, "-0.7778", "0.7461", 23),
]:
    coefficients, error = fit(f, a, b, degree)
    print(f"{name}: error 2^{m.nstr(m.log(error, 2), 4)}")
    for c in coefficients:
        print(f"    {c!r}")
