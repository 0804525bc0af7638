"""CuPy's sparse matrices against SciPy's, through cuSPARSE: kudzu run -- python3 scripts/apps/sparse_cupy.py

Prints a line a check, and the number that failed; with "bench" it times SpMV and SpMM of ten structures against SciPy."""
import sys
import time

import cupy
import cupyx.scipy.sparse as gpu
import numpy
import scipy.sparse as cpu
from cupy import cusparse
from cupyx.scipy.sparse.linalg import spsolve_triangular

failed = 0


def check(name, got, want, tolerance=1e-5):
    global failed
    if hasattr(got, "get"):
        got = got.get()
    if cpu.issparse(got):
        got = got.toarray()
    if cpu.issparse(want):
        want = want.toarray()
    error = float(abs(numpy.asarray(got) - numpy.asarray(want)).max()) if numpy.size(want) else 0.0
    good = error <= tolerance * (1 + float(abs(numpy.asarray(want)).max() if numpy.size(want) else 0))
    failed += not good
    print("%-28s %s %.2g" % (name, "ok" if good else "WRONG", error))


def checks():
    rng = numpy.random.default_rng(1)
    for kind in "fdFD":
        a = cpu.random(60, 47, 0.1, "csr", dtype=kind.lower() if kind in "fd" else ("f" if kind == "F" else "d"), random_state=2).astype(kind)
        if kind in "FD":
            a.data = a.data + 1j * rng.random(a.nnz).astype(kind.lower())
        g = gpu.csr_matrix(a)
        x, b = rng.random(47).astype(kind), rng.random((47, 9)).astype(kind)
        check("csr @ x " + kind, g @ cupy.asarray(x), a @ x)
        check("csr.T @ y " + kind, g.T @ cupy.asarray(rng.random(60).astype(kind) * 0 + 1), a.T @ numpy.ones(60, kind))
        check("csr @ B " + kind, g @ cupy.asarray(b), a @ b)
        check("csr @ B, columns " + kind, g @ cupy.asarray(numpy.asfortranarray(b)), a @ b)
        check("csr @ csr " + kind, g @ g.T.tocsr(), a @ a.T.tocsr())
        check("csr + csr " + kind, g + 2 * g, a + 2 * a)
        check("csr - other " + kind, g - gpu.csr_matrix(a.multiply(a > 0.5).tocsr()), a - a.multiply(a > 0.5).tocsr())
        check("tocsc " + kind, g.tocsc(), a)
        check("tocoo " + kind, g.tocoo().tocsr(), a)
        check("todense " + kind, g.toarray(), a.toarray())
        check("csc @ x " + kind, gpu.csc_matrix(a.tocsc()) @ cupy.asarray(x), a @ x)
        check("coo @ x " + kind, gpu.coo_matrix(a.tocoo()) @ cupy.asarray(x), a @ x)
        check("dense to csr " + kind, gpu.csr_matrix(cupy.asarray(a.toarray())), a)
        low = (cpu.tril(a[:47, :47]) + 4 * cpu.eye(47, dtype=kind)).tocsr().astype(kind)
        check("solve lower " + kind, spsolve_triangular(gpu.csr_matrix(low), cupy.asarray(x)), cpu.linalg.spsolve_triangular(low, x), 1e-4)
        check("solve many " + kind, spsolve_triangular(gpu.csr_matrix(low), cupy.asarray(b)), cpu.linalg.spsolve_triangular(low, b), 1e-4)
        check("sum " + kind, g.sum(axis=0), numpy.asarray(a.sum(axis=0)))
        if hasattr(cusparse, "spgemm"):
            check("spgemm " + kind, cusparse.spgemm(g, gpu.csr_matrix(a.T.tocsr())), a @ a.T)
        if hasattr(cusparse, "spmm"):
            check("spmm " + kind, cusparse.spmm(g, cupy.asfortranarray(cupy.asarray(b))), a @ b)


def structures(n):
    """Ten matrices: bands, grids, random ones, few long rows, blocks."""
    rng = numpy.random.default_rng(3)
    side = int(n**0.5)
    line = cpu.diags([1.0, 2.0, 1.0], [-1, 0, 1], (side, side))
    eye = cpu.eye(side)
    yield "tridiagonal", cpu.diags([1.0, 2.0, 1.0], [-1, 0, 1], (n, n))
    yield "five points", cpu.kron(line, eye) + cpu.kron(eye, line)
    yield "nine points", cpu.kron(line, line)
    yield "band of 33", cpu.diags([1.0] * 33, list(range(-16, 17)), (n, n))
    yield "random 4", cpu.random(n, n, 4 / n, random_state=1)
    yield "random 16", cpu.random(n, n, 16 / n, random_state=2)
    yield "random 64", cpu.random(n // 4, n // 4, 256 / n, random_state=3)
    rows = numpy.minimum(rng.zipf(1.8, n // 2), 2000)
    yield "power law", cpu.csr_matrix((numpy.ones(rows.sum()), rng.integers(0, n, rows.sum()), numpy.concatenate([[0], rows.cumsum()])), (n // 2, n))
    yield "blocks of 8", cpu.kron(cpu.random(n // 16, n // 16, 64 / n, random_state=4), numpy.ones((8, 8)))
    yield "wide", cpu.random(n // 64, n, 0.01, random_state=5)


def best(f, times=7):
    f()
    least = 1e9
    for _ in range(times):
        start = time.perf_counter()
        f()
        least = min(least, time.perf_counter() - start)
    return least


def bench():
    rates = {}
    for name, m in structures(200_000):
        a = m.tocsr().astype("f")
        a.sum_duplicates()
        g = gpu.csr_matrix(a)
        x, b = numpy.random.rand(a.shape[1]).astype("f"), numpy.random.rand(a.shape[1], 32).astype("f")
        gx, gb = cupy.asarray(x), cupy.asarray(b)
        y, c = cupy.zeros(a.shape[0], "f"), cupy.zeros((a.shape[0], 32), "f", order="C")

        def vector():
            cusparse.spmv(g, gx, y)
            cupy.cuda.Device().synchronize()

        def matrix():
            cusparse.spmm(g, gb, c)
            cupy.cuda.Device().synchronize()

        for what, ours, theirs in (("SpMV", vector, lambda: a @ x), ("SpMM", matrix, lambda: a @ b)):
            try:
                t, s = best(ours), best(theirs)
            except Exception as e:
                print("%s %-12s %s" % (what, name, e))
                continue
            rates.setdefault(what, []).append(s / t)
            print("%s %-12s nnz %8d ours %8.3f ms SciPy %8.3f ms ratio %.2f" % (what, name, a.nnz, t * 1e3, s * 1e3, s / t))
    for what, r in rates.items():
        print("%s geomean %.2f" % (what, numpy.exp(numpy.log(r).mean())))


if "bench" in sys.argv:
    bench()
else:
    checks()
    print("%d failed" % failed)
    sys.exit(failed > 0)
