"""CuPy on Kudzu, against NumPy and SciPy: what it hands to NVRTC, which is ours, in every way that it has."""

import cupy as cp
import cupyx
import numpy as np
from cupyx import jit

from rows import Client

client = Client("CuPy", cp.__version__)
rng = np.random.default_rng(5)
a, b = rng.standard_normal(5000).astype("f4"), rng.standard_normal(5000).astype("f4")
d, m = rng.standard_normal(4096), rng.standard_normal((48, 80)).astype("f4")
i, c = rng.integers(0, 64, 5000).astype("i4"), (rng.standard_normal(3000) + 1j * rng.standard_normal(3000)).astype("c8")
h = rng.standard_normal(2000).astype("f2")
host = cp.asnumpy

ADD = r"""extern "C" __global__ void add(const float *x, const float *y, float *z, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) z[i] = x[i] + y[i];
}"""
TEMPLATES = r"""#include <cupy/complex.cuh>
template <typename T> __global__ void twice(T *x, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) x[i] = x[i] + x[i];
}
__constant__ float scale[2];
__device__ float last;
extern "C" __global__ void scaled(float *x, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) x[i] = x[i] * scale[0] + scale[1];
    if (i == n - 1) last = x[i];
}"""
SHARED = r"""extern "C" __global__ void reversed(float *x) {
    extern __shared__ float s[];
    s[threadIdx.x] = x[blockIdx.x * blockDim.x + threadIdx.x];
    __syncthreads();
    x[blockIdx.x * blockDim.x + threadIdx.x] = s[blockDim.x - 1 - threadIdx.x];
}"""
TEXTURE = r"""extern "C" __global__ void fetch(float *out, cudaTextureObject_t t, int w, int h) {
    int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
    if (x < w && y < h) out[y * w + x] = tex2D<float>(t, x, y);
}"""
GROUPS = r"""#include <cooperative_groups.h>
namespace cg = cooperative_groups;
extern "C" __global__ void sums(int *x) {
    auto grid = cg::this_grid();
    int i = grid.thread_rank(), n = grid.size();
    int v = x[i];
    grid.sync();
    x[(i + 1) % n] += v;
}"""


def raw(code, name, grid, block, *args, **options):
    cp.RawKernel(code, name, **options)(grid, block, args, shared_mem=4 * block[0] if "extern __shared__" in code else 0)


def add():
    z = cp.zeros_like(cp.asarray(a))
    raw(ADD, "add", (20,), (256,), cp.asarray(a), cp.asarray(b), z, np.int32(a.size))
    return host(z)


def templates():
    module = cp.RawModule(code=TEMPLATES, options=("-std=c++17",), name_expressions=["twice<double>", "twice<complex<float>>"])
    x, y = cp.asarray(d), cp.asarray(c)
    module.get_function("twice<double>")((16,), (256,), (x, np.int32(x.size)))
    module.get_function("twice<complex<float>>")((12,), (256,), (y, np.int32(y.size)))
    return host(x), host(y)


def variables():
    module = cp.RawModule(code=TEMPLATES, options=("-std=c++17",))
    scale = cp.ndarray(2, "f4", module.get_global("scale"))
    scale[:] = cp.asarray([2, 3], "f4")
    x = cp.asarray(a)
    module.get_function("scaled")((20,), (256,), (x, np.int32(x.size)))
    return host(x), host(cp.ndarray(1, "f4", module.get_global("last")))


def shared():
    x = cp.asarray(d.astype("f4"))
    raw(SHARED, "reversed", (16,), (256,), x)
    return host(x)


def texture():
    rows, columns = m.shape
    array = cp.cuda.texture.CUDAarray(cp.cuda.texture.ChannelFormatDescriptor(32, 0, 0, 0, cp.cuda.runtime.cudaChannelFormatKindFloat), columns, rows)
    array.copy_from(m)
    t = cp.cuda.texture.TextureObject(cp.cuda.texture.ResourceDescriptor(cp.cuda.runtime.cudaResourceTypeArray, cuArr=array), cp.cuda.texture.TextureDescriptor((cp.cuda.runtime.cudaAddressModeClamp,) * 2))
    out = cp.zeros(m.shape, "f4")
    raw(TEXTURE, "fetch", (10, 6), (8, 8), out, t, np.int32(columns), np.int32(rows))
    return host(out)


def groups():
    x = cp.arange(512, dtype="i4")
    cp.RawKernel(GROUPS, "sums", enable_cooperative_groups=True)((4,), (128,), (x,))
    return host(x)


elementwise = cp.ElementwiseKernel("T x, T y", "T z", "z = (x - y) * (x - y) + min(x, y)", "squares")
indexed = cp.ElementwiseKernel("raw T x, int32 n", "T z", "z = x[n - 1 - i] * 2", "backwards")
norm = cp.ReductionKernel("T x", "T y", "x * x", "a + b", "y = sqrt(a)", "0", "norm")
ranges = cp.ReductionKernel("float32 x", "float32 lo", "x", "min(a, b)", "lo = a", "1e30f", "least")


@cp.fuse()
def fused(x, y):
    return cp.sqrt(cp.abs(x)) * y + cp.where(x > 0, x, -y)


@jit.rawkernel()
def jitted(x, y, n):
    at = jit.grid(1)
    step = jit.gridsize(1)
    for k in range(at, n, step):
        y[k] = x[k] * 3 + 1


@jit.rawkernel()
def histogram(x, bins, n):
    s = jit.shared_memory(cp.int32, 64)
    t = jit.threadIdx.x
    if t < 64:
        s[t] = 0
    jit.syncthreads()
    k = jit.blockIdx.x * jit.blockDim.x + t
    if k < n:
        jit.atomic_add(s, x[k], 1)
    jit.syncthreads()
    if t < 64:
        jit.atomic_add(bins, t, s[t])


@jit.rawkernel()
def lanes(x):
    t = jit.threadIdx.x
    x[t] = jit.shfl_xor_sync(0xFFFFFFFF, x[t], 1)


def run_jit(kernel, grid, block, *args):
    kernel((grid,), (block,), args)
    return host(args[1] if len(args) > 1 else args[0])


@cp.vectorize
def clipped(x, y):
    return y if x > y else x


def group(name):
    own = name.startswith(("Raw", "Elementwise", "Reduction", "fuse", "vectorize", "cupyx.jit"))
    return "kernels of the user" if own else "sort and CUB" if name in ("sort", "argsort, unique", "sum, cumsum, argmax") else "array functions"


cases = {
    "RawKernel": (add, lambda: a + b, 0),
    "RawKernel, shared memory": (shared, lambda: d.astype("f4").reshape(16, 256)[:, ::-1].reshape(-1), 0),
    "RawKernel, texture": (texture, lambda: m, 0),
    "RawKernel, cooperative groups": (groups, lambda: np.arange(512, dtype="i4") + np.roll(np.arange(512, dtype="i4"), 1), 0),
    "RawModule, templates": (templates, lambda: (d + d, c + c), 0),
    "RawModule, variables": (variables, lambda: (a * np.float32(2) + np.float32(3), (a * np.float32(2) + np.float32(3))[-1:]), 1e-6),
    "ElementwiseKernel": (lambda: host(elementwise(cp.asarray(a), cp.asarray(b))), lambda: (a - b) * (a - b) + np.minimum(a, b), 1e-6),
    "ElementwiseKernel, raw": (lambda: host(indexed(cp.asarray(d), d.size, size=d.size)), lambda: d[::-1] * 2, 0),
    "ReductionKernel": (lambda: host(norm(cp.asarray(d))), lambda: np.sqrt((d * d).sum()), 1e-14),
    "ReductionKernel, axis": (lambda: host(ranges(cp.asarray(m), axis=1)), lambda: m.min(1), 0),
    "fuse": (lambda: host(fused(cp.asarray(a), cp.asarray(b))), lambda: np.sqrt(np.abs(a)) * b + np.where(a > 0, a, -b), 1e-6),
    "vectorize": (lambda: host(clipped(cp.asarray(a), cp.asarray(b))), lambda: np.minimum(a, b), 0),
    "cupyx.jit": (lambda: run_jit(jitted, 8, 128, cp.asarray(a), cp.zeros_like(cp.asarray(a)), a.size), lambda: a * 3 + 1, 1e-6),
    "cupyx.jit, shared memory and atomics": (lambda: run_jit(histogram, 20, 256, cp.asarray(i), cp.zeros(64, "i4"), i.size), lambda: np.bincount(i, minlength=64), 0),
    "cupyx.jit, shuffle": (lambda: run_jit(lanes, 1, 32, cp.asarray(i[:32])), lambda: i[:32].reshape(16, 2)[:, ::-1].reshape(-1), 0),
    "halves": (lambda: host(cp.asarray(h) * 2 + cp.asarray(h)), lambda: h * np.float16(2) + h, 0),
    "complex": (lambda: host(cp.exp(cp.asarray(c)) * cp.asarray(c).conj()), lambda: np.exp(c) * c.conj(), 2e-6),
    "sort": (lambda: host(cp.sort(cp.asarray(a))), lambda: np.sort(a), 0),
    "argsort, unique": (lambda: (host(cp.argsort(cp.asarray(d))), host(cp.unique(cp.asarray(i)))), lambda: (np.argsort(d), np.unique(i)), 0),
    "sum, cumsum, argmax": (lambda: (host(cp.sum(cp.asarray(i))), host(cp.cumsum(cp.asarray(i))), host(cp.argmax(cp.asarray(d)))), lambda: (i.sum(), i.cumsum(), d.argmax()), 0),
    "scatter_add": (lambda: [host(x := cp.zeros(64, "i4")), cupyx.scatter_add(x, cp.asarray(i), 1), host(x)][2], lambda: np.bincount(i, minlength=64), 0),
    "where, take, fancy index": (lambda: host(cp.where(cp.asarray(a) > 0, cp.asarray(b), 0)[cp.asarray(i)]), lambda: np.where(a > 0, b, 0)[i], 0),
    "convolve": (lambda: host(cp.convolve(cp.asarray(d[:500]), cp.asarray(d[500:540]))), lambda: np.convolve(d[:500], d[500:540]), 1e-13),
}
for name, (run, want, bound) in cases.items():
    client.case(name, run, want, bound, group(name))
