"""The polynomials of dsl/library/math_special.k: interpolation at Chebyshev's points. Needs mpmath; prints them as they stand there, and on stderr the largest relative error of each."""
import sys
import mpmath as m
from mpmath import mpf
m.mp.prec=300

def fit(f,a,b,deg):
    a,b,n=mpf(a),mpf(b),deg+1
    xs=[(a+b)/2+(b-a)/2*m.cos(m.pi*(2*k+1)/(2*n)) for k in range(n)]
    R=m.matrix(n,n)
    for i in range(n):
        for j in range(n): R[i,j]=xs[i]**j
    c=[float(v) for v in m.lu_solve(R,m.matrix([f(x) for x in xs]))]
    pts=[a+(b-a)*(mpf(i)+mpf('0.37'))/100 for i in range(100)]
    e=max(abs(m.polyval(c[::-1],x)/f(x)-1) for x in pts)
    return c,float(e)


def show(name,var,comment,c):
    print(f"// {comment}"); print(f"__host__ __device__ double {name}(double {var}) {{")
    print(f"    double p = {c[-1]!r};")
    for v in c[-2::-1]: print(f"    p = fma(p, {var}, {v!r});")
    print("    return p;\n}\n")


def lq(t): return m.loggamma(2+t)/t if abs(t)>mpf(10)**-30 else 1-m.euler
def L(name,var,comment,f,a,b,deg):
    c,e=fit(f,a,b,deg); print(name,e,file=sys.stderr); show(name,var,comment,c)
L('__dslc_gamma_2','t','gamma(2 + t) for |t| <= 1/2',lambda t:m.gamma(2+t),-0.5,0.5,20)
L('__dslc_lgamma_2','t','lgamma(2 + t) / t for t from -3/4 to 1/2',lq,-0.75,0.5,24)
def einv_w(w):  # erfinv(x)/x with w=-log(1-x^2)
    if abs(w)<mpf(10)**-25: return m.sqrt(m.pi)/2
    x2=-m.expm1(-w)
    x=m.sqrt(x2)
    y=inv(x,w)
    return y/x
def inv(x,w):
    # solve erfc(y)=1-x using log
    q = x2c(w)  # 1-x accurately
    y=m.sqrt(w) if w>3 else x
    lq=m.log(q)
    for _ in range(60):
        e=m.erfc(y); step=(m.log(e)-lq)/(-2/m.sqrt(m.pi)*m.exp(-y*y)/e)
        y-=step
        if abs(step)<mpf(10)**-60: break
    return y
def x2c(w):
    # 1-sqrt(1-e^-w) = e^-w/(1+sqrt(1-e^-w))
    s=m.sqrt(-m.expm1(-w)); return m.exp(-w)/(1+s)
L('__dslc_erfinv_a','w','erfinv(x) / x with w + 3.125 = -log(1 - x^2), up to 6.25',lambda w:einv_w(w+mpf('3.125')),-3.125,3.125,23)
L('__dslc_erfinv_b','s','the same with s + 3.25 = sqrt(-log(1 - x^2)), from 2.5 to 4',lambda s:einv_w((s+mpf('3.25'))**2),-0.75,0.75,22)
def g(r):
    s=1/r; return einv_w(s*s)/s
L('__dslc_erfinv_c','r','erfinv(x) / x / s with s = sqrt(-log(1 - x^2)) and r + 0.18 = 1/s, s from 4 to 9.1',lambda r:g(r+mpf('0.18')),-0.0702,0.0702,24)
L('__dslc_erfinv_d','r','the same with r + 0.073 = 1/s, s from 9.09 to 28',lambda r:g(r+mpf('0.073')),-0.0375,0.0375,30)
