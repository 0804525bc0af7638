"""Warp on Kudzu, against Warp on the CPU: the same kernels on both of its devices."""

import numpy as np
import warp as wp

from rows import Client

wp.config.quiet = True
wp.init()
client = Client("Warp", wp.__version__)
rng = np.random.default_rng(3)
n = 5000
x, y = rng.standard_normal(n).astype("f4"), rng.standard_normal(n).astype("f4")
points, ways = rng.random((n, 3)).astype("f4"), rng.standard_normal((n, 3)).astype("f4")
keys = rng.integers(0, 1 << 30, n).astype("i4")


@wp.kernel(enable_backward=False)
def wave(x: wp.array(dtype=float), y: wp.array(dtype=float)):
    i = wp.tid()
    y[i] = wp.sin(x[i]) * wp.exp(-x[i] * x[i]) + wp.sqrt(wp.abs(x[i]))


@wp.func
def wrapped(v: float, top: float):
    if v < 0.0:
        return v + top
    return v


@wp.kernel(enable_backward=False)
def functions(x: wp.array(dtype=float), y: wp.array(dtype=float)):
    i = wp.tid()
    s = float(0.0)
    for k in range(10):
        s += wrapped(x[i], float(k))
    y[i] = s


@wp.kernel(enable_backward=False)
def vectors(p: wp.array(dtype=wp.vec3), v: wp.array(dtype=wp.vec3), out: wp.array(dtype=wp.vec3)):
    i = wp.tid()
    q = wp.quat_from_axis_angle(wp.normalize(v[i]), 0.3)
    m = wp.matrix_from_rows(p[i], v[i], wp.cross(p[i], v[i]))
    out[i] = wp.quat_rotate(q, p[i]) + m * v[i] * wp.dot(p[i], v[i])


@wp.kernel(enable_backward=False)
def matrices(p: wp.array(dtype=wp.vec3), out: wp.array(dtype=wp.mat33)):
    i = wp.tid()
    a = wp.outer(p[i], p[i]) + wp.identity(n=3, dtype=float) * 2.0
    out[i] = wp.inverse(a) * wp.determinant(a) + wp.transpose(a)


@wp.kernel(enable_backward=False)
def sums(x: wp.array(dtype=float), k: wp.array(dtype=int), total: wp.array(dtype=float), counts: wp.array(dtype=int)):
    i = wp.tid()
    wp.atomic_add(total, 0, x[i])
    wp.atomic_add(counts, k[i] % 64, 1)
    wp.atomic_max(counts, 64, k[i])


@wp.kernel(enable_backward=False)
def two_dimensions(a: wp.array2d(dtype=float), out: wp.array2d(dtype=float)):
    i, j = wp.tid()
    out[j, i] = a[i, j] * float(i) - float(j)


@wp.struct
class Particle:
    at: wp.vec3
    mass: float


@wp.kernel(enable_backward=False)
def structures(p: wp.array(dtype=wp.vec3), out: wp.array(dtype=float)):
    i = wp.tid()
    s = Particle()
    s.at = p[i]
    s.mass = wp.length(p[i])
    out[i] = s.mass * s.at[0]


@wp.kernel(enable_backward=False)
def noises(p: wp.array(dtype=wp.vec3), out: wp.array(dtype=float)):
    i = wp.tid()
    state = wp.rand_init(7, i)
    out[i] = wp.noise(state, p[i] * 4.0) + wp.randf(state) + wp.randn(state)


@wp.kernel(enable_backward=False)
def neighbours(grid: wp.uint64, p: wp.array(dtype=wp.vec3), counts: wp.array(dtype=int)):
    i = wp.tid()
    q = wp.hash_grid_query(grid, p[i], 0.1)
    j = int(0)
    c = int(0)
    while wp.hash_grid_query_next(q, j):
        if wp.length(p[j] - p[i]) < 0.1:
            c += 1
    counts[i] = c


@wp.kernel(enable_backward=False)
def rays(mesh: wp.uint64, p: wp.array(dtype=wp.vec3), v: wp.array(dtype=wp.vec3), out: wp.array(dtype=float)):
    i = wp.tid()
    hit = wp.mesh_query_ray(mesh, p[i], wp.normalize(v[i]), 100.0)
    out[i] = -1.0
    if hit.result:
        out[i] = hit.t


@wp.kernel(enable_backward=False)
def boxes(bvh: wp.uint64, p: wp.array(dtype=wp.vec3), counts: wp.array(dtype=int)):
    i = wp.tid()
    q = wp.bvh_query_aabb(bvh, p[i] - wp.vec3(0.05, 0.05, 0.05), p[i] + wp.vec3(0.05, 0.05, 0.05))
    j = int(0)
    c = int(0)
    while wp.bvh_query_next(q, j):
        c += 1
    counts[i] = c


@wp.kernel(module="unique")
def squares(x: wp.array(dtype=float), loss: wp.array(dtype=float)):
    i = wp.tid()
    wp.atomic_add(loss, 0, wp.sin(x[i]) * x[i] * x[i])


@wp.kernel(enable_backward=False, module="unique")
def tile_sums(a: wp.array2d(dtype=float), out: wp.array(dtype=float)):
    i = wp.tid()
    t = wp.tile_load(a, shape=(16, 64), offset=(i * 16, 0))
    wp.tile_store(out, wp.tile_sum(t * 2.0), offset=i)


def tiles(a: wp.array2d(dtype=float), b: wp.array2d(dtype=float), c: wp.array2d(dtype=float)):
    i, j = wp.tid()
    s = wp.tile_zeros(shape=(16, 16), dtype=float)
    for k in range(4):
        s += wp.tile_matmul(wp.tile_load(a, shape=(16, 16), offset=(i * 16, k * 16)), wp.tile_load(b, shape=(16, 16), offset=(k * 16, j * 16)))
    wp.tile_store(c, s, offset=(i * 16, j * 16))


# By default a product of tiles comes from libmathdx.
alone = {"enable_backward": False, "module": "unique"}
own_product = wp.kernel(tiles, module_options={"enable_mathdx_gemm": False}, **alone)
their_product = wp.kernel(tiles, **alone)


def case(name, f, bound, group):
    """f gets a device and returns arrays of it."""

    def on(device):
        made = f(device)
        wp.synchronize_device(device)
        return tuple(m.numpy() for m in made) if isinstance(made, tuple) else made.numpy()

    client.case(name, lambda: on("cuda:0"), lambda: on("cpu"), bound, group)


def launched(kernel, dim, outs, *arrays, types=None):
    """Runs a kernel over arrays and zeros of (shape, dtype)."""

    def f(device):
        given = [wp.array(a, dtype=t, device=device) for a, t in zip(arrays, types or [{"f": float, "i": int}[a.dtype.kind] for a in arrays])]
        made = [wp.zeros(shape, dtype=t, device=device) for shape, t in outs]
        wp.launch(kernel, dim, given + made, device=device)
        return tuple(made)

    return f


def sort(device):
    k, v = wp.array(np.concatenate([keys, keys]), dtype=int, device=device), wp.array(np.arange(2 * n), dtype=int, device=device)
    wp.utils.radix_sort_pairs(k, v, n)
    return k[:n], v[:n]


def scan(device):
    k, out = wp.array(keys % 100, dtype=int, device=device), wp.zeros(n, dtype=int, device=device)
    wp.utils.array_scan(k, out, inclusive=False)
    return out


def hash_grid(device):
    p, counts = wp.array(points, dtype=wp.vec3, device=device), wp.zeros(n, dtype=int, device=device)
    grid = wp.HashGrid(32, 32, 32, device=device)
    grid.build(p, 0.1)
    wp.launch(neighbours, n, [grid.id, p, counts], device=device)
    return counts


def ball():
    """A sphere of triangles."""
    u, v = np.meshgrid(np.linspace(0, np.pi, 20), np.linspace(0, 2 * np.pi, 40), indexing="ij")
    at = np.stack([np.sin(u) * np.cos(v), np.sin(u) * np.sin(v), np.cos(u)], -1).reshape(-1, 3).astype("f4")
    i, j = np.meshgrid(np.arange(19), np.arange(39), indexing="ij")
    c = (i * 40 + j).reshape(-1)
    return at, np.concatenate([np.stack([c, c + 1, c + 40], 1), np.stack([c + 1, c + 41, c + 40], 1)]).astype("i4").reshape(-1)


def mesh(device):
    at, triangles = ball()
    m = wp.Mesh(wp.array(at, dtype=wp.vec3, device=device), wp.array(triangles, dtype=int, device=device))
    p, v = wp.array(points * 0.4, dtype=wp.vec3, device=device), wp.array(ways, dtype=wp.vec3, device=device)
    out = wp.zeros(n, dtype=float, device=device)
    wp.launch(rays, n, [m.id, p, v, out], device=device)
    return out


def bounding(device):
    low = wp.array(points - 0.01, dtype=wp.vec3, device=device)
    b = wp.Bvh(low, wp.array(points + 0.01, dtype=wp.vec3, device=device))
    counts = wp.zeros(n, dtype=int, device=device)
    wp.launch(boxes, n, [b.id, wp.array(points, dtype=wp.vec3, device=device), counts], device=device)
    return counts


def gradient(device):
    v, loss = wp.array(x, dtype=float, device=device, requires_grad=True), wp.zeros(1, dtype=float, device=device, requires_grad=True)
    with wp.Tape() as tape:
        wp.launch(squares, n, [v, loss], device=device)
    tape.backward(loss)
    return loss, v.grad


def tile_reduction(device):
    a, out = wp.array(x[:4096].reshape(64, 64), dtype=float, device=device), wp.zeros(4, dtype=float, device=device)
    wp.launch_tiled(tile_sums, dim=4, inputs=[a, out], block_dim=64, device=device)
    return out


def product(device, kernel):
    a, b = (wp.array(m, dtype=float, device=device) for m in (x[:4096].reshape(64, 64), y[:4096].reshape(64, 64)))
    c = wp.zeros((64, 64), dtype=float, device=device)
    wp.launch_tiled(kernel, dim=(4, 4), inputs=[a, b, c], block_dim=64, device=device)
    return c


def graph():
    v, out = wp.array(x, dtype=float, device="cuda:0"), wp.zeros(n, dtype=float, device="cuda:0")
    wp.load_module(device="cuda:0")
    with wp.ScopedCapture(device="cuda:0") as capture:
        wp.launch(wave, n, [v, out], device="cuda:0")
        wp.launch(wave, n, [out, v], device="cuda:0")
    wp.capture_launch(capture.graph)
    return v.numpy()


k, u, s = "kernels", "utilities", "geometry"
vec = wp.vec3
case("functions of mathematics", launched(wave, n, [(n, float)], x), 2e-6, k)
case("functions and loops", launched(functions, n, [(n, float)], x), 2e-6, k)
case("vectors, quaternions", launched(vectors, n, [(n, vec)], points, ways, types=(vec, vec)), 5e-6, k)
case("matrices", launched(matrices, n, [(n, wp.mat33)], points, types=(vec,)), 5e-6, k)
case("atomics", launched(sums, n, [(1, float), (65, int)], x, keys), 1e-4, k)
case("two dimensions", launched(two_dimensions, (50, 100), [((100, 50), float)], x.reshape(50, 100)), 1e-6, k)
case("structures", launched(structures, n, [(n, float)], points, types=(vec,)), 2e-6, k)
case("noise, random", launched(noises, n, [(n, float)], points, types=(vec,)), 1e-5, k)
case("tape: gradient", gradient, 2e-5, k)
case("tiles: sums", tile_reduction, 2e-5, k)
case("radix sort", sort, 0, u)
case("scan", scan, 0, u)
case("hash grid", hash_grid, 0, s)
case("mesh, rays", mesh, 2e-5, s)
case("boxes", bounding, 0, s)


def twice():
    out = lambda v: np.sin(v) * np.exp(-v * v) + np.sqrt(np.abs(v))
    return out(out(x))


client.case("captured graph", graph, twice, 5e-6, u)
case("tiles: product, Warp's", lambda device: product(device, own_product), 2e-6, k)
case("tiles: product, libmathdx's", lambda device: product(device, their_product), 2e-6, k)
