#!/usr/bin/env python3
"""CuPy over many types on small arrays: its sorts, scans, reductions and histograms are CUB's and Thrust's kernels, its elementwise
operations are compiled by NVRTC.

  compare_cupy.py [GROUP...]     groups: sort scan reduce select histogram random elementwise index linalg

What the operations compute is not looked at: KUDZU_COMPARE compares each launch with the interpreter.
"""
import sys

import cupy as cp
import numpy as np

FLOATS = ["f4", "f8", "f2"]
INTS = ["i4", "i8", "u4", "u8", "i2", "u2", "i1", "u1", "?"]
COMPLEX = ["c8", "c16"]
host = np.random.RandomState(7)
done = failed = 0


def make(dtype, *shape):
    d = np.dtype(dtype)
    if d.kind == "c":
        return cp.asarray((host.randn(*shape) + 1j * host.randn(*shape)).astype(d))
    if d.kind == "f":
        return cp.asarray((host.randn(*shape) * 3).astype(d))
    if d.kind == "b":
        return cp.asarray(host.rand(*shape) < 0.5)
    return cp.asarray(host.randint(0, 100, shape).astype(d))


def attempt(name, f):
    global done, failed
    try:
        f()
        cp.cuda.runtime.deviceSynchronize()
        done += 1
    except Exception as e:  # whatever a type does not have, or a library that is not there
        failed += 1
        text = str(e).split("\n")[0]
        print(f"{name}: {type(e).__name__}: {text}", flush=True)
        if "cudaError" in text or "CUDA_ERROR" in text:
            sys.exit(1)


def sort():
    for t in FLOATS + INTS + COMPLEX:
        a, m = make(t, 3000), make(t, 20, 30)
        attempt(f"sort {t}", lambda: (cp.sort(a), cp.sort(m, axis=0)))
        attempt(f"argsort {t}", lambda: (cp.argsort(a), cp.argsort(m, axis=1)))
        attempt(f"lexsort {t}", lambda: cp.lexsort(cp.stack([a, a])))
        attempt(f"partition {t}", lambda: (cp.partition(a, 50), cp.argpartition(a, 50)))
        attempt(f"unique {t}", lambda: cp.unique(a, return_index=True, return_inverse=True, return_counts=True))
        attempt(f"searchsorted {t}", lambda: (cp.searchsorted(cp.sort(a), a), cp.digitize(a, cp.sort(a[:20]))))
        attempt(f"msort {t}", lambda: (cp.sort_complex(a), cp.median(a), cp.percentile(a, 30)))


def scan():
    for t in FLOATS + INTS + COMPLEX:
        a, m = make(t, 5000), make(t, 30, 40)
        attempt(f"cumsum {t}", lambda: (cp.cumsum(a), cp.cumsum(m, axis=1), cp.cumsum(m, axis=0)))
        attempt(f"cumprod {t}", lambda: (cp.cumprod(a[:100]), cp.cumprod(m, axis=1)))
        attempt(f"nan {t}", lambda: (cp.nancumsum(a), cp.nancumprod(a[:50]), cp.diff(a), cp.ediff1d(a)))
        attempt(f"accumulate {t}", lambda: (cp.maximum.accumulate(a) if hasattr(cp.maximum, "accumulate") else None, cp.add.reduceat(a, cp.asarray([0, 5, 9]))))


def reduce():
    for t in FLOATS + INTS + COMPLEX:
        a, m = make(t, 5000), make(t, 40, 50)
        for op in "sum prod min max argmin argmax mean std var all any ptp count_nonzero nansum nanprod nanmax nanmin nanmean nanvar nanargmax average".split():
            f = getattr(cp, op)
            attempt(f"{op} {t}", lambda: f(a))
            attempt(f"{op} rows {t}", lambda: f(m, axis=1))
            attempt(f"{op} columns {t}", lambda: f(m, axis=0))


def select():
    for t in FLOATS + INTS + COMPLEX:
        a, m = make(t, 3000), make(t, 30, 40)
        attempt(f"nonzero {t}", lambda: (cp.nonzero(a), cp.argwhere(m), cp.flatnonzero(a)))
        attempt(f"mask {t}", lambda: (a[a != 0], cp.extract(a != 0, a), cp.compress(a[:30] != 0, m, axis=0)))
        attempt(f"where {t}", lambda: (cp.where(a != 0, a, -a), cp.choose(cp.asarray(host.randint(0, 2, 3000)), [a, a])))
        attempt(f"sets {t}", lambda: (cp.in1d(a, a[:50]), cp.isin(m, a[:9]), cp.union1d(a, a), cp.intersect1d(a, a[:70]), cp.setdiff1d(a, a[:70])))


def histogram():
    for t in FLOATS + INTS:
        a = make(t, 4000)
        attempt(f"histogram {t}", lambda: (cp.histogram(a, 20), cp.histogram(a, cp.asarray([-5.0, 0, 2, 9]))))
        attempt(f"bincount {t}", lambda: (cp.bincount(a.astype("i8") % 50 + 50), cp.bincount(cp.abs(a)), cp.bincount(cp.abs(a).astype("i4"), weights=a)))
        attempt(f"histogram2d {t}", lambda: (cp.histogram2d(a, a, 8), cp.histogramdd(cp.stack([a, a], 1), 5)))


def random():
    g = cp.random.Generator(cp.random.XORWOW(3)), cp.random.Generator(cp.random.MRG32k3a(3)), cp.random.Generator(cp.random.Philox4x3210(3))
    for r in g:
        for name, f in {
            "random": lambda: (r.random(2000), r.random(2000, dtype="f4")), "normal": lambda: (r.standard_normal(2000), r.standard_normal(2000, dtype="f4")), "integers": lambda: (r.integers(0, 100, 2000), r.integers(0, 1 << 40, 2000)),
            "exponential": lambda: r.exponential(2.0, 2000), "gamma": lambda: r.gamma(2.5, 2.0, 2000), "beta": lambda: r.beta(2.0, 3.0, 2000), "poisson": lambda: r.poisson(4.0, 2000), "binomial": lambda: r.binomial(20, 0.3, 2000),
            "geometric": lambda: r.geometric(0.3, 2000), "hypergeometric": lambda: r.hypergeometric(20, 30, 10, 2000), "logseries": lambda: r.logseries(0.6, 2000), "power": lambda: r.power(3.0, 2000), "chisquare": lambda: r.chisquare(3.0, 2000),
            "dirichlet": lambda: r.dirichlet([1.0, 2.0, 3.0], 200), "f": lambda: r.f(3.0, 4.0, 2000),
        }.items():
            attempt(f"{name} {type(r.bit_generator).__name__}", f)
    attempt("permutation", lambda: (cp.random.permutation(3000), cp.random.shuffle(make("f4", 3000)), cp.random.choice(50, 20, replace=False)))


UNARY = """sin cos tan arcsin arccos arctan sinh cosh tanh arcsinh arccosh arctanh exp exp2 expm1 log log2 log10 log1p sqrt cbrt square reciprocal absolute
negative sign ceil floor rint trunc fix isnan isinf isfinite signbit logical_not invert deg2rad rad2deg conj angle i0 sinc nan_to_num frexp modf""".split()
BINARY = """add subtract multiply true_divide floor_divide power float_power maximum minimum fmax fmin arctan2 hypot copysign nextafter ldexp logaddexp
logaddexp2 fmod remainder divmod equal not_equal less less_equal greater greater_equal logical_and logical_or logical_xor bitwise_and bitwise_or
bitwise_xor left_shift right_shift gcd lcm""".split()


def elementwise():
    for t in ["f4", "f8", "f2", "i4", "i8", "u1", "?", "c8"]:
        a, b = make(t, 1000), make(t, 1000)
        for op in UNARY:
            attempt(f"{op} {t}", lambda: getattr(cp, op)(a))
        for op in BINARY:
            attempt(f"{op} {t}", lambda: getattr(cp, op)(a, b))


def index():
    for t in FLOATS + INTS + COMPLEX:
        a, m = make(t, 2000), make(t, 30, 40)
        i = cp.asarray(host.randint(0, 30, 12))
        attempt(f"take {t}", lambda: (m[i], m[:, i], a.take(i), m.take(i, axis=0), cp.take_along_axis(m, cp.argsort(m, axis=1), 1)))
        attempt(f"put {t}", lambda: (m.__setitem__(i, 1), a.put(i, a[:12]), cp.put_along_axis(m, cp.argsort(m, axis=1), m, 1)))
        attempt(f"add.at {t}", lambda: (cp.add.at(a, i, a[:12]), cp.maximum.at(a, i, a[:12])))
        attempt(f"shape {t}", lambda: (cp.concatenate([a, a]), cp.stack([m, m], 2), cp.roll(m, 3), cp.flip(m), cp.repeat(a, 3), cp.tile(m, 2), cp.pad(m, 2), cp.tril(m), cp.triu(m), cp.diag(a[:30]), m.T.copy()))
        attempt(f"cast {t}", lambda: [a.astype(x) for x in ("f4", "f8", "i4", "u1", "f2", "?")])


def linalg():
    for t in ["f4", "f8", "c8", "c16", "f2", "i4"]:
        a, v = make(t, 24, 24), make(t, 24)
        attempt(f"products {t}", lambda: (a @ a, a @ v, cp.dot(v, v), cp.inner(a, a), cp.outer(v, v), cp.tensordot(a, a), cp.einsum("ij,jk->ik", a, a), cp.kron(a[:4, :4], a[:3, :3])))
        attempt(f"norms {t}", lambda: (cp.linalg.norm(a), cp.linalg.norm(v, 1), cp.trace(a), cp.cross(a[:, :3], a[:, 3:6])))


GROUPS = [sort, scan, reduce, select, histogram, random, elementwise, index, linalg]
wanted = sys.argv[1:]
for group in GROUPS:
    if not wanted or group.__name__ in wanted:
        before = done
        group()
        print(f"{group.__name__}: {done - before} operations ran", flush=True)
print(f"{done} operations ran, {failed} did not", flush=True)
