"""JAX on Kudzu, against JAX on the CPU: the same functions, compiled for both devices."""

import os

import jax
import jax.numpy as jnp
import numpy as np
from jax import lax

from rows import Client

client = Client("JAX", jax.__version__, "PyPI, Debian 13" if os.environ["CLIENT"].endswith("@debian13") else "PyPI")
jax.config.update("jax_default_matmul_precision", "highest")  # on GPUs JAX may choose TF32 otherwise
rng = np.random.RandomState(3)


def on(device, f, args):
    made = jax.jit(f)(*(jax.device_put(a, device) for a in args))
    leaves = tuple(np.asarray(a) for a in jax.tree.leaves(made))
    return tuple(a.astype(np.float32) if a.dtype == jnp.bfloat16 else a for a in leaves)


def case(name, f, *args, bound=2e-6, group=None):
    cpu, gpu = jax.devices("cpu")[0], jax.devices("cuda")[0]  # fails where JAX found no GPU
    client.case(name, lambda: on(gpu, f, args), lambda: on(cpu, f, args), bound, group or at)


def normal(*shape, dtype=np.float32):
    return rng.randn(*shape).astype(dtype)


def key(f):
    return lambda words: f(jax.random.wrap_key_data(words))


x, y, v = normal(64, 48), normal(48, 32), normal(1000)
whole = rng.randint(-1000, 1000, 300).astype(np.int32)
seed = np.array([3, 9], np.uint32)
square = x[:16] @ x[:16].T + 16 * np.eye(16, dtype=np.float32)

@jax.custom_vjp
def clipped(v):
    return v * 2


clipped.defvjp(lambda v: (v * 2, v), lambda v, g: (jnp.clip(g, -1, 1) * v,))

at = "jit"
case("jit: elementwise", lambda x: jnp.sin(x) * 2 + jnp.exp(-x * x) + jnp.tanh(x), x)
case("jit: functions", lambda x: (jnp.log1p(abs(x)), jnp.expm1(x), jax.scipy.special.erf(x), lax.lgamma(abs(x) + 1), jnp.cbrt(x), jnp.arctan2(x, x + 1)), x)
case("jit: integers", lambda a: (a // 3, a % 7, a << 2, a ^ 5, lax.population_count(a), lax.clz(a)), whole, bound=0.0)
case("jit: complex", lambda x: jnp.exp(1j * x) * jnp.conj(x + 2j), x)
case("jit: select, clip", lambda x: jnp.where(x > 0, jnp.clip(x, 0, 1), -x), x, bound=0.0)
case("jit: pad, concatenate, transpose", lambda x: jnp.pad(jnp.concatenate([x, x * 2], 1).T, ((1, 2), (0, 3))), x, bound=0.0)
case("jit: reductions", lambda x: (x.sum(), x.mean(0), x.max(1), jnp.argmax(x, 1), x.std(), jnp.prod(x[:3, :3])), x)
case("jit: gather, scatter", lambda x, i: (x[i], jnp.zeros_like(x).at[i].add(x[:20])), x, rng.randint(0, 64, 20))
case("jit: segment sum", lambda v, i: jax.ops.segment_sum(v, i, 10), v, rng.randint(0, 10, 1000))
case("attention", lambda q: jax.nn.softmax(q @ q.T / 7) @ q, x)
at = "products"
case("product f32", jnp.matmul, x, y)
case("product f32, or TF32", lambda x, y: jnp.matmul(x, y, precision="default"), x, y, bound=2e-3)
case("product f16", jnp.matmul, x.astype(np.float16), y.astype(np.float16), bound=1e-3)
case("product bf16", jnp.matmul, jnp.asarray(x, jnp.bfloat16), jnp.asarray(y, jnp.bfloat16), bound=1e-2)
case("product i32", jnp.matmul, whole[:256].reshape(16, 16), whole[:256].reshape(16, 16), bound=0.0)
case("product, batches", lambda a, b: jnp.einsum("bij,bjk->bik", a, b), normal(4, 16, 24), normal(4, 24, 8))
at = "grad"
case("grad: MLP", jax.grad(lambda w, x: jnp.sum(jax.nn.relu(x @ w) ** 2)), y[:, :16], x)
case("grad: log softmax", jax.grad(lambda x: jnp.sum(jax.nn.log_softmax(x)[:, 0])), x)
case("hessian", jax.hessian(lambda v: jnp.sum(jnp.sin(v) * v**2)), v[:12])
case("jvp, vjp", lambda v: (jax.jvp(jnp.sin, (v,), (v,)), jax.vjp(jnp.tanh, v)[1](v)), v)
case("custom_vjp", jax.grad(lambda v: jnp.sum(clipped(v) ** 2)), v)
case("checkpoint", jax.grad(jax.checkpoint(lambda x: jnp.sum(jnp.sin(jnp.sin(x)) ** 2))), x)
at = "vmap"
case("vmap", jax.vmap(lambda a, b: jnp.dot(a, b) * jnp.max(a), in_axes=(0, None)), x, y[:, 0])
case("vmap of grad", jax.vmap(jax.grad(lambda a: jnp.sum(jnp.tanh(a) ** 3))), x)
case("vmap of vmap", jax.vmap(jax.vmap(lambda a: jnp.sort(jnp.stack([a, a * a, 1 - a])))), x, bound=1e-7)
at = "control flow"
case("scan", lambda v: lax.scan(lambda c, a: (c * 0.9 + a, c), 0.0, v), v)
case("while", lambda n: lax.while_loop(lambda s: s[0] < n, lambda s: (s[0] + 1, s[1] * 1.01), (0, 1.0)), np.int32(57))
case("cond", lambda x: lax.cond(x.sum() > 0, lambda x: x * 2, lambda x: x - 1, x), x)
case("switch", lambda i, x: lax.switch(i, [jnp.sin, jnp.cos, jnp.tanh], x), np.int32(2), x)
case("fori_loop", lambda x: lax.fori_loop(0, 20, lambda i, a: a * 0.9 + i, x), x)
case("cumsum", lambda x: jnp.cumsum(x, axis=0), x)
case("associative scan", lambda v: lax.associative_scan(jnp.add, v), v)
at = "sort"
case("sort", jnp.sort, v, bound=0.0)
case("sort of 40000", jnp.sort, normal(40000), bound=0.0)
case("sort of rows", lambda x: jnp.sort(x, axis=1), x, bound=0.0)
case("argsort", jnp.argsort, v, bound=0.0)
case("top k", lambda v: lax.top_k(v, 10), v, bound=0.0)
case("searchsorted, unique", lambda v, i: (jnp.searchsorted(jnp.sort(v), v[:50]), jnp.unique(i, size=300)), v, whole, bound=0.0)
at = "random"
case("random bits", key(lambda k: jax.random.bits(k, (1000,))), seed, bound=0.0)
case("random uniform", key(lambda k: jax.random.uniform(k, (500,))), seed, bound=0.0)
case("random normal", key(lambda k: jax.random.normal(k, (500,))), seed)
case("permutation", key(lambda k: jax.random.permutation(k, 300)), seed, bound=0.0)
case("categorical, gamma", key(lambda k: (jax.random.categorical(k, jnp.arange(9.0), shape=(100,)), jax.random.gamma(k, 2.0, (100,)))), seed, bound=1e-5)
at = "convolution"
case("convolution", lambda a, k: lax.conv_general_dilated(a, k, (1, 1), "SAME"), normal(2, 3, 16, 16), normal(4, 3, 3, 3))
case("grad: convolution", jax.grad(lambda k, a: jnp.sum(lax.conv_general_dilated(a, k, (2, 2), "VALID") ** 2)), normal(4, 3, 3, 3), normal(2, 3, 16, 16))
case("convolution, groups", lambda a, k: lax.conv_general_dilated(a, k, (1, 1), "SAME", feature_group_count=4), normal(2, 8, 12, 12), normal(8, 2, 3, 3))
case("convolution, transposed", lambda a, k: lax.conv_transpose(a, k, (2, 2), "SAME"), normal(2, 8, 8, 3), normal(3, 3, 3, 5))
case("convolution, dilated, 1 dimension", lambda a, k: lax.conv_general_dilated(a, k, (1,), "SAME", rhs_dilation=(2,)), normal(2, 4, 60), normal(6, 4, 5))
case("max pool, average pool", lambda a: (lax.reduce_window(a, -jnp.inf, lax.max, (1, 1, 2, 2), (1, 1, 2, 2), "VALID"), lax.reduce_window(a, 0.0, lax.add, (1, 1, 3, 3), (1, 1, 1, 1), "SAME")), normal(2, 3, 16, 16))
at = "fft"
case("fft, ifft", lambda v: (jnp.fft.fft(v), jnp.fft.ifft(v + 1j * v[::-1])), v)
case("rfft, irfft", lambda v: (jnp.fft.rfft(v), jnp.fft.irfft(jnp.fft.rfft(v) * 2)), v)
case("fft2", lambda x: jnp.fft.fft2(x), x)
case("rfftn, 3 dimensions", lambda a: jnp.fft.irfftn(jnp.fft.rfftn(a) ** 2), normal(8, 12, 10))
case("fft of 1009, a prime", jnp.fft.fft, normal(1009))
case("grad: fft", jax.grad(lambda v: jnp.sum(jnp.abs(jnp.fft.rfft(v)) ** 2)), v)
at = "linalg"
case("cholesky", jnp.linalg.cholesky, square)
case("cholesky, batches", jnp.linalg.cholesky, np.stack([square, square * 2 + np.eye(16, dtype=np.float32)]))
case("QR", lambda a: (lambda q, r: (jnp.abs(r), q @ r))(*jnp.linalg.qr(a)), x[:32, :16], bound=5e-6)
case("SVD", lambda a: (lambda u, s, w: (s, (u * s) @ w))(*jnp.linalg.svd(a, full_matrices=False)), x[:16, :16], bound=5e-6)
case("SVD of batches, values", lambda a: jnp.linalg.svd(a, compute_uv=False), normal(3, 24, 8), bound=5e-6)
case("eigh", lambda a: (lambda w, u: (w, (u * w) @ u.T))(*jnp.linalg.eigh(a)), square, bound=5e-6)
case("solve", jnp.linalg.solve, x[:16, :16], y[:16, :4], bound=1e-4)
case("inv, det, slogdet", lambda a: (jnp.linalg.inv(a), jnp.linalg.det(a / 16), jnp.linalg.slogdet(a)), square, bound=1e-5)
case("LU", lambda a: (lambda p, l, u: (l, u, p @ l @ u))(*jax.scipy.linalg.lu(a)), x[:16, :16], bound=1e-5)
case("triangular solve", lambda a, b: jax.scipy.linalg.solve_triangular(a, b, lower=True), np.tril(square), y[:16, :4], bound=1e-5)
case("expm", jax.scipy.linalg.expm, square / 32, bound=1e-5)
case("grad: cholesky, solve", jax.grad(lambda a: jnp.sum(jax.scipy.linalg.cho_solve(jax.scipy.linalg.cho_factor(a), jnp.ones(16)))), square, bound=2e-5)
