#!/usr/bin/env python3
"""Computes the polynomials of libdevice: fit.py > c/zfit.h, with mpmath.

Each is the interpolation of a smooth function at Chebyshev nodes, in 50 digits, of the least degree whose relative
error stays below a bound; then coefficients are rounded to the type."""
from mpmath import mp, mpf
import mpmath as m

mp.prec = 320
HALF = mpf(1) / 2


def rounded(c, single):
    """c as a number of the type."""
    if c == 0:
        return mpf(0)
    bits = 24 if single else 53
    e = int(m.floor(m.log(abs(c), 2)))
    return mpf(int(m.nint(m.ldexp(c, bits - 1 - e)))) * mpf(2) ** (e - bits + 1)


def literal(c, single):
    return float(c).hex() + ("f" if single else "")


def interpolate(f, a, b, n):
    xs = [(a + b) / 2 + (b - a) / 2 * m.cos(m.pi * (2 * i + 1) / (2 * n + 2)) for i in range(n + 1)]
    d = [f(x) for x in xs]  # divided differences, then Newton's form to monomials
    for j in range(1, n + 1):
        for i in range(n, j - 1, -1):
            d[i] = (d[i] - d[i - 1]) / (xs[i] - xs[i - j])
    c = [mpf(0)] * (n + 1)
    for i in range(n, -1, -1):
        for k in range(n, 0, -1):
            c[k] = c[k - 1] - xs[i] * c[k]
        c[0] = d[i] - xs[i] * c[0]
    return c


def fit(name, f, a, b, bits, single=False, start=2):
    """Writes the function p_NAME(x), which is f to 2^-bits of it on [a, b]."""
    a, b = mpf(a), mpf(b)
    probes = [a + (b - a) * (i + HALF) / 61 for i in range(61)] + [a + (b - a) * mpf(2) ** -30, b]
    want = [f(x) for x in probes]
    tol = mpf(2) ** -bits
    for n in range(start, 46):
        exact = interpolate(f, a, b, n)
        if max(abs(m.polyval(exact[::-1], x) - w) / abs(w) for x, w in zip(probes, want)) < tol:
            break
    else:
        raise SystemExit("%s: no polynomial" % name)
    c = [rounded(k, single) for k in exact]
    worst = max(abs(m.polyval(c[::-1], x) - w) / abs(w) for x, w in zip(probes, want))
    t, fma = ("float", "fmaf") if single else ("double", "fma")
    print("// %s <= x <= %s, error 2^%.1f" % (m.nstr(a, 6), m.nstr(b, 6), m.log(worst, 2)))
    print("static inline %s p_%s(%s x)\n{" % (t, name, t))
    print("\t%s p = %s;" % (t, literal(c[-1], single)))
    for k in reversed(c[:-1]):
        print("\tp = %s(p, x, %s);" % (fma, literal(k, single)))
    print("\treturn p;\n}\n")


def split(name, v, single=False, parts=3):
    """Writes constants NAME_0, NAME_1 ... whose sum is v."""
    for i in range(parts):
        h = rounded(v, single)
        print("#define %s_%d %s" % (name, i, literal(h, single)))
        v -= h
    print()


def even(f):
    """f as a function of the square of its argument."""
    return lambda z: f(m.sqrt(z))


def rest(f, terms):
    """What is left of f when the first terms of its series are gone, divided by the next power."""
    def g(x):
        if abs(x) < mpf(2) ** -70:
            x = mpf(2) ** -70 if x >= 0 else -mpf(2) ** -70
        s = f(x)
        for i, t in enumerate(terms):
            s -= t * x ** i
        return s / x ** len(terms)
    return g


def elementary(suffix, single, bits):
    s = single
    n = lambda x: x + suffix
    fit(n("exp"), rest(m.exp, [1, 1]), -0.347, 0.347, bits, s)
    fit(n("exp2"), rest(lambda x: mpf(2) ** x, [1]), -0.5, 0.5, bits + 1, s)
    fit(n("exp10"), rest(lambda x: mpf(10) ** x, [1, m.log(10)]), -0.1507, 0.1507, bits - 1, s)
    fit(n("atanh"), lambda z: 2 * rest(even(lambda x: m.atanh(x) / x), [1])(z), 0, 0.0296, bits - 2, s)
    fit(n("atanh2"), lambda z: 2 * rest(even(lambda x: m.atanh(x) / x), [1, mpf(1) / 3])(z), 0, 0.0296, bits - 2, s)
    fit(n("sin"), rest(even(lambda x: m.sin(x) / x), [1]), 0, 0.62, bits - 1, s)
    fit(n("cos"), rest(even(m.cos), [1, -HALF]), 0, 0.62, bits - 2, s)
    fit(n("asin"), rest(even(lambda x: m.asin(x) / x), [1]), 0, 0.25, bits - 2, s)
    fit(n("atan"), rest(even(lambda x: m.atan(x) / x), [1]), 0, 1, bits - 2, s)
    fit(n("sinh"), rest(even(lambda x: m.sinh(x) / x), [1]), 0, 1, bits - 1, s)
    fit(n("erf"), rest(even(lambda x: m.erf(x) / x), [2 / m.sqrt(m.pi)]), 0, 1, bits - 1, s)

    def erfcx(t):
        x = 4 * (1 + t) / (1 - t) if t < 1 else mpf(10) ** 40
        return (1 + 2 * x) * (m.exp(x * x) * m.erfc(x) if x < 100 else sum((-1) ** k * m.fac2(2 * k - 1) / (2 * x * x) ** k for k in range(8)) / (x * m.sqrt(m.pi)))
    fit(n("erfcx"), erfcx, -1, 1, bits - 1, s, 8)


def inverse_error():
    """erfinv(x) = x g(w), w = -log(1 - x^2), or sqrt(w) - c."""
    mp.prec = 320

    def erfcinv(y):  # by Newton on the logarithm
        if y > mpf("0.3"):
            x = m.erfinv(1 - y)
        else:
            x = m.sqrt(-m.log(y * m.sqrt(m.pi) * m.sqrt(-m.log(y))))
        for _ in range(60):
            e = m.erfc(x)
            d = (m.log(e) - m.log(y)) * e * m.sqrt(m.pi) / 2 * m.exp(x * x)
            x += d
            if abs(d) < mpf(10) ** -60:
                break
        return x

    def g(w):
        if w < mpf(2) ** -60:
            return m.sqrt(m.pi) / 2
        y = -m.expm1(m.log1p(-m.exp(-w)) / 2) if w > 1 else 1 - m.sqrt(-m.expm1(-w))
        return erfcinv(y) / (1 - y)
    tails = [(2.5, 4), (4, 9), (9, 27.5)]
    fit("erfinv0", lambda v: g(v + mpf("3.125")), -3.125, 3.125, 55)
    for i, (a, b) in enumerate(tails):
        c = mpf(a + b) / 2
        fit("erfinv%d" % (i + 1), lambda v: g((v + c) ** 2), a - c, b - c, 55)
    # Results below 1 have a finer last place than g: what g is more than at 0.
    split("SQRT_PI_HALFF", m.sqrt(m.pi) / 2, True, 2)
    fit("erfinvf", lambda w: (g(max(w, mpf(2) ** -50)) - m.sqrt(m.pi) / 2) / max(w, mpf(2) ** -50), 0, 1.25, 27, True)
    fit("erfinv0f", lambda v: g(v + mpf("2.5")), -2.5, 2.5, 26, True)
    fit("erfinv1f", lambda v: g((v + 3) ** 2), m.sqrt(5) - 3, 1.2, 26, True)
    fit("erfinv2f", lambda v: g((v + 7) ** 2), -2.8, 3.3, 26, True)
    mp.prec = 320


def gammas():
    fit("lgamma1", lambda t: m.loggamma(1 + t) / t if t else -m.euler, 0, 0.5, 56)
    fit("lgamma2", lambda t: m.loggamma(2 + t) / t if t else 1 - m.euler, -0.5, 0.5, 56)
    fit("lgamma3", lambda t: m.loggamma(mpf("3.5") + t) / (mpf("1.5") + t), -1, 1, 56)
    fit("lgamma6", lambda t: m.loggamma(mpf("6.25") + t), -1.75, 1.75, 56)

    def stirling(w):  # of 1/x^2
        if w < mpf(2) ** -60:
            return mpf(1) / 12
        x = 1 / m.sqrt(w)
        mp.prec = 500
        r = (m.loggamma(x) - (x - HALF) * m.log(x) + x - m.log(2 * m.pi) / 2) * x
        mp.prec = 320
        return r
    fit("stirling", stirling, 0, mpf(1) / 64, 50)
    fit("gamma", lambda t: m.gamma(2 + t), -0.5, 0.5, 56)


def zero(f, near):
    return m.findroot(f, near)


def bessel(name, f, pieces):
    """f near each of its zeros: p_NAMEk(x - zero) (x - zero)."""
    for k, (near, a, b) in enumerate(pieces):
        z = zero(f, near)
        split("%s_ZERO%d" % (name.upper(), k), z, parts=2)
        fit("%s%d" % (name, k), lambda t: f(z + t) / t if abs(t) > mpf(2) ** -60 else m.diff(f, z), mpf(a) - z, mpf(b) - z, 55, start=8)


def bessels():
    fit("j0small", even(m.j0), 0, 1, 57)
    fit("j1small", lambda z: even(lambda x: m.j1(x) / x)(max(z, mpf(2) ** -60)), 0, 1, 57)
    bessel("j0", m.j0, [(2.4, 1, 4), (5.5, 4, 7), (8.65, 7, 8.7)])
    bessel("j1", m.j1, [(3.8, 1, 5.4), (7.0, 5.4, 8.1)])
    y0 = lambda x: m.bessely(0, x)
    y1 = lambda x: m.bessely(1, x)
    # Y0 = 2/pi log(x) J0 + r(x^2), Y1 = 2/pi (log(x) J1 - 1/x) + x r(x^2)
    fit("y0small", lambda z: even(lambda x: y0(x) - 2 / m.pi * m.log(x) * m.j0(x))(max(z, mpf(2) ** -60)), 0, 0.2025, 56)
    fit("y1small", lambda z: even(lambda x: (y1(x) - 2 / m.pi * (m.log(x) * m.j1(x) - 1 / x)) / x)(max(z, mpf(2) ** -60)), 0, 1.21, 56)
    fit("y0mid", lambda t: y0(mpf("1.9375") + t), -0.5875, 0.5625, 56)
    bessel("y0", y0, [(0.89, 0.45, 1.35), (3.95, 2.5, 5.5), (7.08, 5.5, 8.1)])
    bessel("y1", y1, [(2.2, 1.1, 2.2), (2.2, 2.2, 3.8), (5.43, 3.8, 7), (8.6, 7, 8.7)])
    # From 8 on: modulus and phase, as functions of 1/x^2.
    for nu in (0, 1):
        def pq(w, nu=nu):
            x = 1 / m.sqrt(max(w, mpf(2) ** -80))
            j, y = m.besselj(nu, x), m.bessely(nu, x)
            mod2 = (j * j + y * y) * m.pi * x / 2
            ph = m.atan2(y, j)
            a = ph - (x - (2 * nu + 1) * m.pi / 4)
            a -= 2 * m.pi * m.nint(a / (2 * m.pi))
            return m.sqrt(mod2), a * x
        fit("mod%d" % nu, lambda w: pq(w)[0], 0, mpf(1) / 64, 48)
        fit("phase%d" % nu, lambda w: pq(w)[1], 0, mpf(1) / 64, 44)
    # I0 and I1: series, and e^x/sqrt(x) p(1/x)
    i0 = lambda x: m.besseli(0, x)
    i1 = lambda x: m.besseli(1, x)

    def big(nu):
        def f(u):
            if u > mpf(1) / 64:
                return m.besseli(nu, 1 / u) * m.exp(-1 / u) / m.sqrt(u)
            s, t, k = mpf(0), mpf(1), 0  # Hankel's expansion
            while abs(t) > mpf(2) ** -150:
                s, k = s + t, k + 1
                t *= -(4 * nu * nu - (2 * k - 1) ** 2) * u / (8 * k)
            return s / m.sqrt(2 * m.pi)
        return f
    fit("i0small", even(i0), 0, 64, 56)
    fit("i1small", lambda z: even(lambda x: i1(x) / x)(max(z, mpf(2) ** -60)), 0, 64, 56)
    fit("i0mid", big(0), mpf(1) / 32, mpf(1) / 8, 56)
    fit("i1mid", big(1), mpf(1) / 32, mpf(1) / 8, 56)
    fit("i0big", big(0), 0, mpf(1) / 32, 56)
    fit("i1big", big(1), 0, mpf(1) / 32, 56)


def constants():
    split("LN2", m.log(2))
    split("LN2F", m.log(2), True)
    split("LOG10_2", m.log10(2))
    split("LOG10_2F", m.log10(2), True)
    split("LOG2_E", m.log(m.e, 2), parts=2)
    split("LOG2_EF", m.log(m.e, 2), True, 2)
    split("LN10", m.log(10), parts=2)
    split("LN10F", m.log(10), True, 2)
    split("LOG2_10", m.log(10, 2), parts=1)
    split("LOG2_10F", m.log(10, 2), True, 1)
    split("LOG10_E", m.log10(m.e), parts=2)
    split("LOG10_EF", m.log10(m.e), True, 2)
    split("PI", m.pi)
    split("PIF", m.pi, True)
    split("PI_2", m.pi / 2, parts=4)
    split("PI_2F", m.pi / 2, True, 4)
    split("TWO_PI", 2 / m.pi, parts=2)
    split("TWO_PIF", 2 / m.pi, True, 2)
    split("SQRT_2", m.sqrt(2), parts=2)
    split("SQRT_2F", m.sqrt(2), True, 2)
    split("SQRT_HALF", m.sqrt(HALF), parts=2)
    split("SQRT_HALFF", m.sqrt(HALF), True, 2)
    split("LOG_SQRT_2PI", m.log(2 * m.pi) / 2, parts=2)
    split("ERF1", 2 / m.sqrt(m.pi) - 1, parts=1)
    split("ERF1F", 2 / m.sqrt(m.pi) - 1, True, 1)
    split("LOG_PI", m.log(m.pi), parts=2)
    split("SQRT_2_PI", m.sqrt(2 / m.pi), parts=1)
    split("SQRT_2PI", m.sqrt(2 * m.pi), parts=2)
    mp.prec = 1600
    n = 20
    v = int(m.floor(2 / m.pi * mpf(2) ** (64 * n)))
    print("// The first %d bits of 2/pi." % (64 * n))
    print("#define TWO_PI_WORDS \\\n\t" + ", \\\n\t".join("0x%016xull" % (v >> 64 * (n - 1 - i) & (1 << 64) - 1) for i in range(n)) + "\n")
    mp.prec = 320


print("// Code generated by internal/libdevice/fit.py from definitions in it; DO NOT EDIT.\n#pragma once\n")
constants()
elementary("", False, 57)
elementary("_f", True, 28)
fit("log_f", rest(m.log1p, [0, 1, -HALF]), -0.293, 0.4143, 27, True)
gammas()
inverse_error()
bessels()
