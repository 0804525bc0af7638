"""JAX on Kudzu, against JAX on the CPU: the same functions, compiled for both devices."""

import os

os.environ.setdefault("XLA_PYTHON_CLIENT_PREALLOCATE", "false")  # the machine's memory is the device's

import jax
import jax.numpy as jnp
import numpy as np
from jax import lax

from rows import Client

client = Client("JAX", jax.__version__)
jax.config.update("jax_default_matmul_precision", "highest")  # on GPUs JAX may choose TF32 otherwise
rng = np.random.RandomState(3)


def on(device, f, args):
    made = jax.jit(f)(*(jax.device_put(a, device) for a in args))
    leaves = tuple(np.asarray(a) for a in jax.tree.leaves(made))
    return tuple(a.astype(np.float32) if a.dtype == jnp.bfloat16 else a for a in leaves)


def case(name, f, *args, bound=2e-6):
    cpu, gpu = jax.devices("cpu")[0], jax.devices("cuda")[0]  # fails where JAX found no GPU
    client.case(name, lambda: on(gpu, f, args), lambda: on(cpu, f, args), bound)


def normal(*shape, dtype=np.float32):
    return rng.randn(*shape).astype(dtype)


def key(f):
    return lambda words: f(jax.random.wrap_key_data(words))


x, y, v = normal(64, 48), normal(48, 32), normal(1000)
whole = rng.randint(-1000, 1000, 300).astype(np.int32)
seed = np.array([3, 9], np.uint32)
square = x[:16] @ x[:16].T + 16 * np.eye(16, dtype=np.float32)

case("jit: elementwise", lambda x: jnp.sin(x) * 2 + jnp.exp(-x * x) + jnp.tanh(x), x)
case("jit: functions", lambda x: (jnp.log1p(abs(x)), jnp.expm1(x), jax.scipy.special.erf(x), lax.lgamma(abs(x) + 1), jnp.cbrt(x), jnp.arctan2(x, x + 1)), x)
case("jit: integers", lambda a: (a // 3, a % 7, a << 2, a ^ 5, lax.population_count(a), lax.clz(a)), whole, bound=0.0)
case("jit: complex", lambda x: jnp.exp(1j * x) * jnp.conj(x + 2j), x)
case("jit: select, clip", lambda x: jnp.where(x > 0, jnp.clip(x, 0, 1), -x), x, bound=0.0)
case("jit: pad, concatenate, transpose", lambda x: jnp.pad(jnp.concatenate([x, x * 2], 1).T, ((1, 2), (0, 3))), x, bound=0.0)
case("jit: reductions", lambda x: (x.sum(), x.mean(0), x.max(1), jnp.argmax(x, 1), x.std(), jnp.prod(x[:3, :3])), x)
case("jit: gather, scatter", lambda x, i: (x[i], jnp.zeros_like(x).at[i].add(x[:20])), x, rng.randint(0, 64, 20))
case("jit: segment sum", lambda v, i: jax.ops.segment_sum(v, i, 10), v, rng.randint(0, 10, 1000))
case("product f32", jnp.matmul, x, y)
case("product f32, or TF32", lambda x, y: jnp.matmul(x, y, precision="default"), x, y, bound=2e-3)
case("product f16", jnp.matmul, x.astype(np.float16), y.astype(np.float16), bound=1e-3)
case("product bf16", jnp.matmul, jnp.asarray(x, jnp.bfloat16), jnp.asarray(y, jnp.bfloat16), bound=1e-2)
case("product i32", jnp.matmul, whole[:256].reshape(16, 16), whole[:256].reshape(16, 16), bound=0.0)
case("product, batches", lambda a, b: jnp.einsum("bij,bjk->bik", a, b), normal(4, 16, 24), normal(4, 24, 8))
case("attention", lambda q: jax.nn.softmax(q @ q.T / 7) @ q, x)
case("grad: MLP", jax.grad(lambda w, x: jnp.sum(jax.nn.relu(x @ w) ** 2)), y[:, :16], x)
case("grad: log softmax", jax.grad(lambda x: jnp.sum(jax.nn.log_softmax(x)[:, 0])), x)
case("hessian", jax.hessian(lambda v: jnp.sum(jnp.sin(v) * v**2)), v[:12])
case("vmap", jax.vmap(lambda a, b: jnp.dot(a, b) * jnp.max(a), in_axes=(0, None)), x, y[:, 0])
case("vmap of grad", jax.vmap(jax.grad(lambda a: jnp.sum(jnp.tanh(a) ** 3))), x)
case("scan", lambda v: lax.scan(lambda c, a: (c * 0.9 + a, c), 0.0, v), v)
case("while", lambda n: lax.while_loop(lambda s: s[0] < n, lambda s: (s[0] + 1, s[1] * 1.01), (0, 1.0)), np.int32(57))
case("cond", lambda x: lax.cond(x.sum() > 0, lambda x: x * 2, lambda x: x - 1, x), x)
case("cumsum", lambda x: jnp.cumsum(x, axis=0), x)
case("associative scan", lambda v: lax.associative_scan(jnp.add, v), v)
case("sort", jnp.sort, v, bound=0.0)
case("sort of 40000", jnp.sort, normal(40000), bound=0.0)
case("sort of rows", lambda x: jnp.sort(x, axis=1), x, bound=0.0)
case("argsort", jnp.argsort, v, bound=0.0)
case("top k", lambda v: lax.top_k(v, 10), v, bound=0.0)
case("random bits", key(lambda k: jax.random.bits(k, (1000,))), seed, bound=0.0)
case("random uniform", key(lambda k: jax.random.uniform(k, (500,))), seed, bound=0.0)
case("random normal", key(lambda k: jax.random.normal(k, (500,))), seed)
case("permutation", key(lambda k: jax.random.permutation(k, 300)), seed, bound=0.0)
case("cholesky", jnp.linalg.cholesky, square)
case("QR", lambda x: jnp.abs(jnp.linalg.qr(x)[1]), x[:16, :16])
case("SVD", lambda x: jnp.linalg.svd(x, compute_uv=False), x[:16, :16])
case("solve", jnp.linalg.solve, x[:16, :16], y[:16, :4], bound=1e-4)
case("convolution", lambda a, k: lax.conv_general_dilated(a, k, (1, 1), "SAME"), normal(2, 3, 16, 16), normal(4, 3, 3, 3))
case("grad: convolution", jax.grad(lambda k, a: jnp.sum(lax.conv_general_dilated(a, k, (2, 2), "VALID") ** 2)), normal(4, 3, 3, 3), normal(2, 3, 16, 16))
