"""Taichi on Kudzu, against Taichi on the CPU: the same programs in processes of one device each."""

import functools
import json
import os
import subprocess
import sys

import numpy as np

# A process of Taichi has one device, so the CPU's results come from a second one: the same file, told by a variable.
on_cpu = bool(os.environ.get("TAICHI_CPU"))

import taichi as ti

ti.init(arch=ti.cpu if on_cpu else ti.cuda, random_seed=3, log_level=ti.ERROR, offline_cache=not on_cpu, device_memory_GB=1)
rng = np.random.default_rng(3)
n = 5000
x = rng.standard_normal(n).astype("f4")
k = rng.integers(0, 64, n).astype("i4")


@ti.kernel
def wave(a: ti.types.ndarray(dtype=ti.f32, ndim=1), b: ti.types.ndarray(dtype=ti.f32, ndim=1)):
    for i in a:
        b[i] = ti.sin(a[i]) * ti.exp(-a[i] * a[i]) + ti.sqrt(ti.abs(a[i])) + ti.tanh(a[i])


def elementwise():
    b = np.zeros_like(x)
    wave(x, b)
    return b


field = ti.field(ti.f32, shape=(64, 64))
other = ti.field(ti.f32, shape=(64, 64))


@ti.kernel
def fill():
    for i, j in field:
        field[i, j] = ti.sin(i * 0.1) * ti.cos(j * 0.2)


@ti.kernel
def smooth():
    for i, j in other:
        s = 0.0
        for di, dj in ti.static(ti.ndrange((-1, 2), (-1, 2))):
            s += field[(i + di + 64) % 64, (j + dj + 64) % 64]
        other[i, j] = s / 9


def stencil():
    fill()
    smooth()
    return other.to_numpy()


total = ti.field(ti.f32, shape=())
bins = ti.field(ti.i32, shape=64)


@ti.kernel
def reduce(a: ti.types.ndarray(dtype=ti.f32, ndim=1), b: ti.types.ndarray(dtype=ti.i32, ndim=1)) -> ti.f32:
    best = -1e30
    for i in a:
        ti.atomic_add(total[None], a[i])
        ti.atomic_add(bins[b[i]], 1)
        ti.atomic_max(best, a[i])
    return best


def atomics():
    total[None] = 0
    bins.fill(0)
    best = reduce(x, k)
    return np.float32(best), total.to_numpy(), bins.to_numpy().astype("f4")


vec = ti.Vector.field(3, ti.f32, shape=200)
mat = ti.Matrix.field(3, 3, ti.f32, shape=200)


@ti.kernel
def algebra(a: ti.types.ndarray(dtype=ti.f32, ndim=1)):
    for i in vec:
        v = ti.Vector([a[i], a[i + 1], a[i + 2]])
        m = v.outer_product(v) + ti.Matrix.identity(ti.f32, 3) * 2
        mat[i] = m.inverse() * m.determinant()
        vec[i] = m @ v.cross(ti.Vector([1.0, 2.0, 3.0])) + v.normalized()


def matrices():
    algebra(x)
    return vec.to_numpy(), mat.to_numpy()


@ti.kernel
def factors(a: ti.types.ndarray(dtype=ti.f32, ndim=1)):
    for i in mat:
        m = ti.Matrix([[a[i], a[i + 1], a[i + 2]], [a[i + 3], a[i + 4], a[i + 5]], [a[i + 6], a[i + 7], a[i + 8]]])
        u, s, v = ti.svd(m)
        mat[i] = u @ s @ v.transpose()


def svd():
    factors(x)
    return mat.to_numpy()


@ti.kernel
def collatz(b: ti.types.ndarray(dtype=ti.i32, ndim=1)):
    for i in b:
        v, c = i + 1, 0
        while v != 1:
            if v % 2 == 0:
                v = v // 2
            else:
                v = 3 * v + 1
            c += 1
        b[i] = c


def loops():
    b = np.zeros(n, "i4")
    collatz(b)
    return b


@ti.data_oriented
class Particles:
    def __init__(self, count):
        self.at = ti.Vector.field(2, ti.f32, shape=count)
        self.way = ti.Vector.field(2, ti.f32, shape=count)

    @ti.kernel
    def start(self, a: ti.types.ndarray(dtype=ti.f32, ndim=1)):
        for i in self.at:
            self.at[i] = [a[2 * i], a[2 * i + 1]]
            self.way[i] = [0.0, 0.0]

    @ti.kernel
    def step(self):
        for i in self.at:
            force = ti.Vector([0.0, 0.0])
            for j in range(self.at.shape[0]):
                d = self.at[j] - self.at[i]
                force += d / (d.norm_sqr() + 0.1) ** 1.5
            self.way[i] += force * 1e-4
        for i in self.at:
            self.at[i] += self.way[i] * 1e-2


def bodies():
    p = Particles(200)
    p.start(x)
    for _ in range(5):
        p.step()
    return p.at.to_numpy()


w, loss = ti.field(ti.f32, shape=50, needs_grad=True), ti.field(ti.f32, shape=(), needs_grad=True)


@ti.kernel
def objective():
    for i in w:
        loss[None] += ti.sin(w[i]) * w[i] ** 2


def gradient():
    w.from_numpy(x[:50])
    loss[None] = 0
    with ti.ad.Tape(loss):
        objective()
    return loss.to_numpy(), w.grad.to_numpy()


sparse = ti.field(ti.i32)
block = ti.root.pointer(ti.ij, (8, 8))
block.dense(ti.ij, (4, 4)).place(sparse)


@ti.kernel
def activate():
    for i in range(20):
        sparse[i, (i * 7) % 32] = i


@ti.kernel
def count() -> ti.i32:
    c = 0
    for i, j in sparse:
        c += 1 + sparse[i, j]
    return c


def pointers():
    block.deactivate_all()
    activate()
    return np.array([count()])


whole, values = ti.field(ti.i32, shape=n), ti.field(ti.f32, shape=n)
executor = functools.cache(lambda: ti.algorithms.PrefixSumExecutor(n))


def prefix():
    whole.from_numpy(k)
    executor().run(whole)
    return whole.to_numpy()


def sort():
    values.from_numpy(x)
    ti.algorithms.parallel_sort(values)
    return values.to_numpy()


# name: function, bound, group.
cases = {
    "elementwise": (elementwise, 2e-6, "kernels"),
    "stencil": (stencil, 2e-6, "kernels"),
    "atomics, reductions": (atomics, 1e-4, "kernels"),
    "vectors, matrices": (matrices, 1e-5, "kernels"),
    "SVD of 3 × 3": (svd, 1e-5, "kernels"),
    "loops": (loops, 0, "kernels"),
    "n bodies": (bodies, 1e-5, "kernels"),
    "gradient": (gradient, 1e-5, "kernels"),
    "sparse fields": (pointers, 0, "data"),
    "parallel sort": (sort, 0, "data"),
    "prefix sum": (prefix, 0, "data"),
}

if on_cpu:
    import time

    name = sys.argv[1]
    cases[name][0]()
    begin = time.perf_counter()
    made = cases[name][0]()
    made = made if isinstance(made, tuple) else (made,)
    print("RESULT " + json.dumps([time.perf_counter() - begin] + [[np.asarray(m).ravel().tolist(), list(np.shape(m)), str(np.asarray(m).dtype)] for m in made]))
    sys.exit()

from rows import Client

client = Client("Taichi", ".".join(map(str, ti.__version__)))


def other_process(name):
    """What Taichi's CPU device makes of a case."""
    made = subprocess.run([sys.executable, __file__, name], env={**os.environ, "TAICHI_CPU": "1"}, capture_output=True, text=True)
    line = [text for text in made.stdout.splitlines() if text.startswith("RESULT ")]
    if not line:
        raise RuntimeError(made.stderr[-200:])
    seconds, *values = json.loads(line[0].removeprefix("RESULT "))
    return tuple(np.array(v, dtype).reshape(shape) for v, shape, dtype in values), seconds


def flat(made):
    return made if isinstance(made, tuple) else (made,)


numpy = {"prefix sum": lambda: (np.cumsum(k),), "parallel sort": lambda: (np.sort(x),)}  # what Taichi has on GPUs only
for name, (f, bound, group) in cases.items():
    if client.wants(name):
        want, seconds = (numpy[name], None) if name in numpy else other_process(name)
        client.case(name, lambda f=f: flat(f()), want, bound, group, seconds)
