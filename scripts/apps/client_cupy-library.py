"""CuPy on Kudzu, against NumPy and SciPy: what it hands to cuFFT, cuRAND, cuSPARSE, cuSOLVER, cuBLAS and CUB, and cupyx.scipy."""

import functools

import cupy as cp
import cupyx.scipy.fft
import cupyx.scipy.interpolate
import cupyx.scipy.linalg
import cupyx.scipy.ndimage
import cupyx.scipy.signal
import cupyx.scipy.sparse as sparse
import cupyx.scipy.sparse.linalg
import cupyx.scipy.spatial.distance
import cupyx.scipy.special
import cupyx.scipy.stats
import numpy as np
import scipy.fft
import scipy.interpolate
import scipy.linalg
import scipy.ndimage
import scipy.signal
import scipy.sparse
import scipy.sparse.linalg
import scipy.spatial.distance
import scipy.special
import scipy.stats

from rows import Client

client = Client("CuPy", cp.__version__)
rng = np.random.default_rng(5)
v, d, m = rng.standard_normal(5000).astype("f4"), rng.standard_normal(4096), rng.standard_normal((48, 80)).astype("f4")
a = rng.standard_normal((40, 40))
spd = a @ a.T + 40 * np.eye(40)
z = rng.standard_normal((24, 24)) + 1j * rng.standard_normal((24, 24))
i = rng.integers(0, 64, 5000).astype("i4")
k = rng.integers(-(1 << 30), 1 << 30, 1 << 16).astype("i4")
image = rng.standard_normal((40, 50))
s = scipy.sparse.random(200, 150, 0.05, "csr", random_state=2)
e = (s.T @ s + 5 * scipy.sparse.eye(150)).tocsr()


def host(x):
    if isinstance(x, (tuple, list)):
        return tuple(host(y) for y in x)
    if hasattr(x, "toarray"):
        x = x.toarray()
    return cp.asnumpy(x) if isinstance(x, cp.ndarray) else np.asarray(x)


def case(group, name, run, want, bound, *arrays):
    """run gets CuPy's arrays, want NumPy's; both may return tuples."""
    client.case(name, lambda: host(run(*map(cp.asarray, arrays))), lambda: host(want(*arrays)), bound, group)


def both(group, name, f, bound, *arrays):
    """f gets the module too: the same call of CuPy and of NumPy."""
    case(group, name, lambda *x: f(cp, *x), lambda *x: f(np, *x), bound, *arrays)


both("fft", "fft, ifft", lambda p, x: (p.fft.fft(x), p.fft.ifft(x + 1j * x[::-1])), 1e-14, d)
both("fft", "fft of c8", lambda p, x: p.fft.fft(x), 1e-6, v[:3000] + 1j * v[2000:])
both("fft", "rfft, irfft", lambda p, x: (p.fft.rfft(x), p.fft.irfft(p.fft.rfft(x))), 1e-14, d)
both("fft", "fft2, fftn", lambda p, x: (p.fft.fft2(x), p.fft.fftn(x.reshape(8, 10, 48))), 2e-6, m)
both("fft", "fft of a prime", lambda p, x: p.fft.fft(x[:1009]), 1e-13, d)
both("fft", "fftshift, fftfreq", lambda p, x: p.fft.fftshift(p.fft.fft(x)) * p.fft.fftfreq(x.size), 1e-14, d)
case("fft", "scipy.fft.dct", lambda x: cupyx.scipy.fft.dct(x), lambda x: scipy.fft.dct(x), 1e-13, d)

both("linalg", "matmul f32", lambda p, x: x @ x.T, 1e-6, m)
both("linalg", "matmul f64, einsum, tensordot", lambda p, x: (x @ x, p.einsum("ij,kj->ik", x, x), p.tensordot(x, x, 1)), 1e-14, a)
both("linalg", "matmul of halves", lambda p, x: (x @ x.T).astype("f4"), 2e-3, m.astype("f2"))
both("linalg", "cholesky", lambda p, x: p.linalg.cholesky(x), 1e-14, spd)
both("linalg", "qr", lambda p, x: (lambda q, r: (abs(r), q @ r))(*p.linalg.qr(x)), 1e-13, a)
both("linalg", "svd", lambda p, x: (lambda u, w, t: (w, (u * w) @ t))(*p.linalg.svd(x, full_matrices=False)), 1e-13, m.astype("f8"))
both("linalg", "svd, complex", lambda p, x: (lambda u, w, t: (w, (u * w) @ t))(*p.linalg.svd(x)), 1e-13, z)
both("linalg", "eigh", lambda p, x: (lambda w, u: (w, (u * w) @ u.T))(*p.linalg.eigh(x)), 1e-13, spd)
both("linalg", "eigvalsh, batches", lambda p, x: p.linalg.eigvalsh(x), 1e-13, np.stack([spd, spd * 2 + np.diag(np.arange(40))]))
both("linalg", "solve, inv, det", lambda p, x: (p.linalg.solve(x, x[:3].T), p.linalg.inv(x), p.linalg.det(x / 40)), 1e-12, spd)
both("linalg", "lstsq, pinv", lambda p, x: (p.linalg.lstsq(x, x[:, 0], rcond=None)[0], p.linalg.pinv(x)), 1e-11, m.astype("f8"))
both("linalg", "norm, matrix_power, slogdet", lambda p, x: (p.linalg.norm(x), p.linalg.matrix_power(x / 40, 3), p.linalg.slogdet(x)[1]), 1e-13, spd)
case("linalg", "scipy.linalg.lu", lambda x: cupyx.scipy.linalg.lu(x), lambda x: scipy.linalg.lu(x), 1e-12, a)
case("linalg", "scipy.linalg.solve_triangular", lambda x: cupyx.scipy.linalg.solve_triangular(x, x[:, 0], lower=True), lambda x: scipy.linalg.solve_triangular(x, x[:, 0], lower=True), 1e-12, np.tril(spd))
case("linalg", "scipy.linalg.expm", lambda x: cupyx.scipy.linalg.expm(x), lambda x: scipy.linalg.expm(x), 1e-12, a / 40)


def moments(x, mean, deviation):
    """Whether the moments are near what they should be: the numbers are the generator's own, as on every GPU."""
    return np.array([abs(float(x.mean()) - mean) < 0.03 * deviation, abs(float(x.std()) - deviation) < 0.03 * deviation])


def drawn(name, f, mean, deviation):
    client.case(name, lambda: moments(f(), mean, deviation), np.ones(2, bool), 0, "random")


drawn("random uniform, cuRAND", lambda: (cp.random.seed(3), cp.random.uniform(size=100000))[1], 0.5, 12**-0.5)
drawn("random normal, cuRAND", lambda: (cp.random.seed(3), cp.random.randn(100000))[1], 0, 1)
drawn("Generator.random", lambda: cp.random.default_rng(3).random(100000), 0.5, 12**-0.5)
drawn("Generator.standard_normal", lambda: cp.random.default_rng(3).standard_normal(100000), 0, 1)
drawn("Generator.gamma", lambda: cp.random.default_rng(3).gamma(2.0, size=100000), 2, 2**0.5)
drawn("Generator.poisson", lambda: cp.random.default_rng(3).poisson(4.0, 100000).astype("f8"), 4, 2)
client.case("permutation, shuffle", lambda: host(cp.sort(cp.random.permutation(5000))), np.arange(5000), 0, "random")
client.case("the seed repeats", lambda: host((cp.random.seed(9), cp.random.rand(500))[1] - (cp.random.seed(9), cp.random.rand(500))[1]), np.zeros(500), 0, "random")

both("sort and CUB", "sort of 64 K integers", lambda p, x: p.sort(x), 0, k)
both("sort and CUB", "sort of rows, halves", lambda p, x: (p.sort(x, 1), p.sort(x.astype("f2"), 0)), 0, m)
both("sort and CUB", "lexsort, argpartition, searchsorted", lambda p, x: (p.lexsort(p.stack([x, x % 7])), p.partition(x, 20)[20], p.searchsorted(p.sort(x), x)), 0, k[:3000])
both("sort and CUB", "reductions", lambda p, x: (x.sum(), x.max(0), x.min(1), x.mean(), x.std(), x.prod(1), x.argmin(), p.median(x, 1)), 2e-6, m.astype("f8"))
both("sort and CUB", "scans", lambda p, x: (p.cumsum(x), p.cumprod(x[:30]), p.diff(x)), 1e-13, d)
both("sort and CUB", "histogram, bincount, digitize", lambda p, x: (p.histogram(x, 64)[0], p.bincount(x), p.digitize(x, p.arange(0, 64, 5))), 0, i)
both("sort and CUB", "nonzero, compress, count_nonzero", lambda p, x: (p.nonzero(x > 0)[0], x[x > 0.5], p.count_nonzero(x > 1)), 0, v)
both("sort and CUB", "unique with counts", lambda p, x: p.unique(x, return_counts=True, return_inverse=True), 0, i)

both("array functions", "functions f64", lambda p, x: (p.exp(x), p.sin(x), p.arctan2(x, 1 - x), p.log1p(abs(x)), p.cbrt(x), p.sinh(x)), 2e-15, d)
both("array functions", "functions f32", lambda p, x: (p.exp(x), p.tanh(x), p.power(abs(x), p.float32(1.7)), p.hypot(x, x + 1)), 2e-6, v)
both("array functions", "integers, bits", lambda p, x: (x // 7, x % 13, x << 2, x ^ 99, p.gcd(x, x + 6)), 0, k[:5000])
both("array functions", "shapes", lambda p, x: (p.concatenate([x, x * 2], 1).T, p.pad(x, 2), p.roll(x, 3, 1), p.tile(x, (2, 2)), p.repeat(x, 3, 0), p.kron(x[:4, :4], x[:3, :3])), 1e-7, m)
both("array functions", "interp, polyfit, percentile", lambda p, x: (p.interp(x, p.arange(-3.0, 4), p.arange(7.0) ** 2), p.polyval(p.polyfit(p.arange(50.0) / 50, x[:50], 2), p.arange(9.0)), p.percentile(x, p.asarray([5.0, 50, 95]))), 1e-11, d)

S, E, b = (lambda: sparse.csr_matrix(s)), (lambda: sparse.csr_matrix(e)), rng.standard_normal(150)
case("sparse", "csr @ vector, @ matrix, transposed", lambda x, y: (S() @ x, S() @ y, S().T @ (S() @ x)), lambda x, y: (s @ x, s @ y, s.T @ (s @ x)), 1e-14, b, rng.standard_normal((150, 7)))
case("sparse", "csr @ csr, csr + csr", lambda: (S().T.tocsr() @ S(), E() + 2 * E()), lambda: (s.T @ s, e + 2 * e), 1e-14)
case("sparse", "coo, csc, dense", lambda: (S().tocoo().tocsr(), S().tocsc(), sparse.csr_matrix(cp.asarray(s.toarray()))), lambda: (s, s, s), 0)
case("sparse", "sums, index, slices", lambda: (S().sum(0), S()[5:50], S()[:, 3:9], S().max(1)), lambda: (s.sum(0), s[5:50], s[:, 3:9], s.max(1)), 1e-14)
case("sparse", "spsolve", lambda x: cupyx.scipy.sparse.linalg.spsolve(E(), x), lambda x: scipy.sparse.linalg.spsolve(e.tocsc(), x), 1e-11, b)
case("sparse", "cg, gmres", lambda x: (cupyx.scipy.sparse.linalg.cg(E(), x, rtol=1e-10)[0], cupyx.scipy.sparse.linalg.gmres(E(), x, rtol=1e-10)[0]), lambda x: (scipy.sparse.linalg.spsolve(e.tocsc(), x),) * 2, 1e-8, b)
case("sparse", "eigsh, svds", lambda: (cp.sort(cupyx.scipy.sparse.linalg.eigsh(E(), 4, return_eigenvectors=False)), cp.sort(cupyx.scipy.sparse.linalg.svds(S(), 3, return_singular_vectors=False))),
     lambda: (np.sort(scipy.sparse.linalg.eigsh(e, 4, return_eigenvectors=False)), np.sort(scipy.sparse.linalg.svds(s, 3, return_singular_vectors=False))), 1e-8)
case("sparse", "spsolve_triangular", lambda x: cupyx.scipy.sparse.linalg.spsolve_triangular(sparse.tril(E()).tocsr(), x), lambda x: scipy.sparse.linalg.spsolve_triangular(scipy.sparse.tril(e).tocsr(), x), 1e-12, b)

g, c = "cupyx.scipy", cupyx.scipy
case(g, "ndimage: filters", lambda x: (c.ndimage.gaussian_filter(x, 1.5), c.ndimage.median_filter(x, 3), c.ndimage.sobel(x), c.ndimage.uniform_filter(x, 5)),
     lambda x: (scipy.ndimage.gaussian_filter(x, 1.5), scipy.ndimage.median_filter(x, 3), scipy.ndimage.sobel(x), scipy.ndimage.uniform_filter(x, 5)), 1e-13, image)
case(g, "ndimage: zoom, rotate, map_coordinates", lambda x: (c.ndimage.zoom(x, 1.7), c.ndimage.rotate(x, 30, order=1)), lambda x: (scipy.ndimage.zoom(x, 1.7), scipy.ndimage.rotate(x, 30, order=1)), 1e-11, image)
case(g, "ndimage: label, morphology", lambda x: (c.ndimage.label(x > 0.5)[1], c.ndimage.binary_erosion(x > 0), c.ndimage.grey_dilation(x, 3)),
     lambda x: (scipy.ndimage.label(x > 0.5)[1], scipy.ndimage.binary_erosion(x > 0), scipy.ndimage.grey_dilation(x, 3)), 0, image)
case(g, "signal: convolve2d, fftconvolve, lfilter", lambda x: (c.signal.convolve2d(x, x[:5, :5]), c.signal.fftconvolve(x, x[:9, :9]), c.signal.lfilter(cp.asarray([1.0, 0.5]), cp.asarray([1.0, -0.3]), x[0])),
     lambda x: (scipy.signal.convolve2d(x, x[:5, :5]), scipy.signal.fftconvolve(x, x[:9, :9]), scipy.signal.lfilter([1.0, 0.5], [1.0, -0.3], x[0])), 1e-13, image)
case(g, "special", lambda x: (c.special.erf(x), c.special.gammaln(abs(x) + 1), c.special.j0(x), c.special.expit(x), c.special.logsumexp(x)),
     lambda x: (scipy.special.erf(x), scipy.special.gammaln(abs(x) + 1), scipy.special.j0(x), scipy.special.expit(x), scipy.special.logsumexp(x)), 1e-14, d)
case(g, "interpolate: splines", lambda x: c.interpolate.make_interp_spline(cp.arange(50.0), x[:50])(cp.linspace(0, 49, 200)), lambda x: scipy.interpolate.make_interp_spline(np.arange(50.0), x[:50])(np.linspace(0, 49, 200)), 1e-12, d)
case(g, "stats: entropy, trim_mean", lambda x: (c.stats.entropy(abs(x)), c.stats.trim_mean(x, 0.1)), lambda x: (scipy.stats.entropy(abs(x)), scipy.stats.trim_mean(x, 0.1)), 1e-12, d)


def streams():
    """Work on two streams, an event between them, pinned memory, and a graph of it."""
    one, two = cp.cuda.Stream(non_blocking=True), cp.cuda.Stream(non_blocking=True)
    with one:
        x = cp.asarray(d) * 2
        ready = one.record()
    two.wait_event(ready)
    with two:
        y = x + 1
    two.synchronize()
    with one:
        one.begin_capture()
        y *= 3
        graph = one.end_capture()
        graph.launch(one)
    one.synchronize()
    return host(y)


client.case("streams, events, a captured graph", streams, lambda: (d * 2 + 1) * 3, 1e-15, "streams")
client.case("memory pool, managed memory", lambda: (cp.cuda.set_allocator(cp.cuda.MemoryPool(cp.cuda.malloc_managed).malloc), host(cp.asarray(d) + 1), cp.cuda.set_allocator(cp.get_default_memory_pool().malloc))[1], lambda: d + 1, 0, "streams")
big, wide = rng.standard_normal(1 << 20).astype("f4"), rng.standard_normal((512, 512)).astype("f4")
placed = functools.cache(lambda: (cp.asarray(big), cp.asarray(wide)))


def timed(name, f, group="array functions, 1 M elements"):
    client.figure(name, lambda: (f(cp, *placed()), cp.cuda.Device().synchronize()), lambda: f(np, big, wide), group)


timed("add", lambda p, x, w: x + 1)
timed("exp", lambda p, x, w: p.exp(x))
timed("sum", lambda p, x, w: x.sum())
timed("sort", lambda p, x, w: p.sort(x))
timed("cumsum", lambda p, x, w: p.cumsum(x))
timed("matmul 512", lambda p, x, w: w @ w)
timed("fft", lambda p, x, w: p.fft.fft(x))
