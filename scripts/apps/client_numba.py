"""Numba-CUDA on Kudzu, against NumPy: kernels in Python, made to PTX by libNVVM and linked by nvJitLink, which are ours."""

import math

import numba_cuda
import numpy as np
from numba import cuda, float32, float64, guvectorize, int32, vectorize
from numba.cuda.random import create_xoroshiro128p_states, xoroshiro128p_uniform_float32

from rows import Client

client = Client("Numba-CUDA", numba_cuda.__version__)
rng = np.random.default_rng(3)
x, y = rng.standard_normal(10007).astype("f4"), rng.standard_normal(10007).astype("f4")
a, b = rng.standard_normal((70, 50)).astype("f4"), rng.standard_normal((50, 60)).astype("f4")
bins = rng.integers(0, 64, 10007).astype("i4")


def blocks(n, per=128):
    return (n + per - 1) // per, per


@cuda.jit
def saxpy(k, x, y):
    i = cuda.grid(1)
    if i < x.size:
        y[i] += k * x[i]


@cuda.jit
def math_functions(x, out):
    i = cuda.grid(1)
    if i < x.size:
        v = x[i]
        out[i] = math.sin(v) * math.exp(-v * v) + math.sqrt(abs(v)) + math.log1p(abs(v)) + math.erf(v) + math.tanh(v)


@cuda.jit
def total(x, out):
    s = cuda.shared.array(128, float32)
    t, i = cuda.threadIdx.x, cuda.grid(1)
    s[t] = x[i] if i < x.size else 0
    cuda.syncthreads()
    k = 64
    while k:
        if t < k:
            s[t] += s[t + k]
        cuda.syncthreads()
        k //= 2
    if t == 0:
        cuda.atomic.add(out, 0, s[0])


@cuda.jit
def product(a, b, c):
    s, r = cuda.shared.array((16, 16), float32), cuda.shared.array((16, 16), float32)
    row, column = cuda.grid(2)
    tx, ty = cuda.threadIdx.x, cuda.threadIdx.y
    value = float32(0)
    for k in range(0, a.shape[1], 16):
        s[tx, ty] = a[row, k + ty] if row < a.shape[0] and k + ty < a.shape[1] else 0
        r[tx, ty] = b[k + tx, column] if k + tx < b.shape[0] and column < b.shape[1] else 0
        cuda.syncthreads()
        for j in range(16):
            value += s[tx, j] * r[j, ty]
        cuda.syncthreads()
    if row < c.shape[0] and column < c.shape[1]:
        c[row, column] = value


@cuda.jit
def histogram(x, out):
    i = cuda.grid(1)
    if i < x.size:
        cuda.atomic.add(out, x[i], 1)


@cuda.jit
def extremes(x, out):
    i = cuda.grid(1)
    if i < x.size:
        cuda.atomic.max(out, 0, x[i])
        cuda.atomic.min(out, 1, x[i])


@cuda.jit
def warp_sum(x, out):
    i = cuda.grid(1)
    v = x[i]
    for k in (16, 8, 4, 2, 1):
        v += cuda.shfl_down_sync(0xFFFFFFFF, v, k)
    if cuda.laneid == 0:
        out[i // 32] = v + cuda.popc(cuda.ballot_sync(0xFFFFFFFF, cuda.laneid % 2 == 0)) * 0


@cuda.jit
def grid_sums(x):
    g, i = cuda.cg.this_grid(), cuda.grid(1)
    v = x[i]
    g.sync()
    x[(i + 1) % x.size] += v


table = np.arange(16, dtype="f4") ** 2


@cuda.jit
def constants(x, out):
    t = cuda.const.array_like(table)
    own = cuda.local.array(4, float64)
    i = cuda.grid(1)
    if i < x.size:
        for k in range(4):
            own[k] = t[(x[i] + k) % 16]
        out[i] = own[0] + own[1] + own[2] + own[3]


@cuda.jit(device=True)
def twice(v):
    return v * 2, v + 1


@cuda.jit
def device_function(x, out):
    i = cuda.grid(1)
    if i < x.size:
        p, q = twice(x[i])
        out[i] = p - q


point = np.dtype([("at", "f4", 3), ("kind", "i4")], align=True)


@cuda.jit
def records(p):
    i = cuda.grid(1)
    if i < p.size:
        p[i]["kind"] = p[i]["kind"] + 1
        for k in range(3):
            p[i]["at"][k] *= 2


@cuda.jit
def drawn(states, out):
    i = cuda.grid(1)
    if i < out.size:
        out[i] = xoroshiro128p_uniform_float32(states, i)


@vectorize([float32(float32, float32), float64(float64, float64)], target="cuda")
def smaller(u, v):
    return u if u < v else v * 2


@guvectorize([(float32[:], float32[:], float32[:])], "(n),(n)->()", target="cuda")
def dots(u, v, out):
    s = float32(0)
    for k in range(u.shape[0]):
        s += u[k] * v[k]
    out[0] = s


@cuda.reduce
def largest(u, v):
    return u if u > v else v


def launch(kernel, n, out, *args):
    """The array out after a kernel over n threads."""
    made = cuda.to_device(out)
    kernel[blocks(n)](*(made if arg is out else cuda.to_device(arg) if isinstance(arg, np.ndarray) else arg for arg in args))
    return made.copy_to_host()


def tiles():
    c = cuda.device_array((70, 60), "f4")
    product[(5, 4), (16, 16)](cuda.to_device(a), cuda.to_device(b), c)
    return c.copy_to_host()


def cooperative():
    made = cuda.to_device(np.arange(512, dtype="i4"))
    grid_sums[4, 128](made)
    return made.copy_to_host()


def streams():
    stream, begin, end = cuda.stream(), cuda.event(), cuda.event()
    pinned = cuda.pinned_array(x.size, "f4")
    pinned[:] = y
    dx, dy = cuda.to_device(x, stream), cuda.to_device(pinned, stream)
    begin.record(stream)
    saxpy[(*blocks(x.size), stream)](np.float32(2), dx, dy)
    end.record(stream)
    dy.copy_to_host(pinned, stream)
    stream.synchronize()
    assert begin.elapsed_time(end) >= 0
    return pinned.copy()


def mapped():
    m = cuda.mapped_array(x.size, "f4")
    m[:] = y
    saxpy[blocks(x.size)](np.float32(1), cuda.to_device(x), m)
    cuda.synchronize()
    return np.array(m)


def random():
    out = cuda.device_array(10000, "f4")
    drawn[blocks(10000)](create_xoroshiro128p_states(10112, seed=3), out)
    r = out.copy_to_host()
    return np.array([r.min() >= 0, r.max() < 1, abs(r.mean() - 0.5) < 0.02, np.unique(r).size > 9000])


def erf(v):
    return np.vectorize(math.erf)(v)


zeros = np.zeros_like(x)
one, two, sums = np.zeros(1, "f4"), np.array([-9, 9], "f4"), np.zeros(320, "f4")
counts, near = np.zeros(64, "i4"), np.zeros(10007)
whole = np.arange(512, dtype="i4")
points = np.zeros(100, point)
points["at"], points["kind"] = rng.standard_normal((100, 3)), np.arange(100)


def doubled():
    made = points.copy()
    made["kind"] += 1
    made["at"] *= 2
    return made["at"], made["kind"]


def structures():
    made = launch(records, 100, points, points)
    return made["at"], made["kind"]


k, g, u, r = "kernels", "shared memory, atomics, warps", "ufuncs, reductions", "streams, memory, random"
client.case("saxpy", lambda: launch(saxpy, x.size, y, np.float32(2), x, y), lambda: y + 2 * x, 1e-6, k)
client.case("functions of math", lambda: launch(math_functions, x.size, zeros, x, zeros), lambda: np.sin(x) * np.exp(-x * x) + np.sqrt(abs(x)) + np.log1p(abs(x)) + erf(x) + np.tanh(x), 2e-6, k)
client.case("device function, tuples", lambda: launch(device_function, x.size, zeros, x, zeros), lambda: x * 2 - (x + 1), 1e-6, k)
client.case("records", structures, doubled, 0, k)
client.case("constant and local memory", lambda: launch(constants, bins.size, near, bins, near), lambda: sum(table[(bins + j) % 16] for j in range(4)).astype("f8"), 0, k)
client.case("reduction in shared memory", lambda: launch(total, x.size, one, x, one), lambda: x.sum(dtype="f8").reshape(1), 2e-5, g)
client.case("product by tiles", tiles, lambda: a @ b, 2e-6, g)
client.case("atomic add", lambda: launch(histogram, bins.size, counts, bins, counts), lambda: np.bincount(bins, minlength=64), 0, g)
client.case("atomic max and min", lambda: launch(extremes, x.size, two, x, two), lambda: np.array([x.max(), x.min()]), 0, g)
client.case("shuffle, ballot", lambda: launch(warp_sum, 10240 // 32 * 32, sums, np.resize(x, 10240), sums), lambda: np.resize(x, 10240).reshape(-1, 32).sum(1), 2e-6, g)
client.case("sync of the grid", cooperative, lambda: whole + np.roll(whole, 1), 0, g)
client.case("vectorize", lambda: smaller(x, y), lambda: np.where(x < y, x, y * 2), 0, u)
client.case("vectorize f64, broadcast", lambda: smaller(x[:50, None].astype("f8"), y[None, :40].astype("f8")), lambda: np.where(x[:50, None] < y[:40], x[:50, None], y[:40].astype("f8") * 2), 0, u)
client.case("guvectorize", lambda: dots(a, a[::-1].copy()), lambda: (a * a[::-1]).sum(1), 2e-6, u)
client.case("cuda.reduce", lambda: np.float32(largest(cuda.to_device(x))), lambda: x.max(), 0, u)
client.case("stream, events, pinned memory", streams, lambda: y + 2 * x, 1e-6, r)
client.case("mapped memory", mapped, lambda: x + y, 1e-6, r)
client.case("random, xoroshiro128p", random, np.ones(4, bool), 0, r)
