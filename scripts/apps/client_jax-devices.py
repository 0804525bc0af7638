"""JAX on several devices of Kudzu in one process, against as many CPU devices of JAX: pmap, shard_map and jit of sharded arrays, whose
collectives are NCCL's. A collective alone is no launch, so each has a product before it."""

import os

devices = int(os.environ["KUDZU_DEVICES"])
os.environ["XLA_FLAGS"] = f"--xla_force_host_platform_device_count={devices} " + os.environ.get("XLA_FLAGS", "")

import jax
import jax.numpy as jnp
import numpy as np
from jax import lax
from jax.sharding import Mesh, NamedSharding
from jax.sharding import PartitionSpec as P

from rows import Client

shard_map = getattr(jax, "shard_map", None) or __import__("jax.experimental.shard_map", fromlist=["shard_map"]).shard_map
client = Client(f"JAX, {devices} devices", jax.__version__, "PyPI, Debian 13" if os.environ["CLIENT"].endswith("@debian13") else "PyPI")
jax.config.update("jax_default_matmul_precision", "highest")
kudzu, cpu = jax.devices("cuda"), jax.devices("cpu")
assert len(kudzu) == len(cpu) == devices, (kudzu, cpu)
rng = np.random.RandomState(3)
n = devices
x = rng.randn(n, n * 40, 6).astype(np.float32)
w = rng.randn(6, 3).astype(np.float32)


def leaves(made):
    return tuple(np.asarray(a) for a in jax.tree.leaves(made))


def mapped(name, f, *args, bound=2e-6):
    run = lambda ds: leaves(jax.pmap(f, axis_name="i", devices=ds)(*args))
    client.case(f"pmap: {name}", lambda: run(kudzu), lambda: run(cpu), bound, group="pmap")


def loss(w, x):
    return jnp.mean((x @ w) ** 2)


every = np.broadcast_to
ring = [(k, (k + 1) % n) for k in range(n)]
mapped("no collective", lambda a: jnp.sin(a) * 2, x)
mapped("psum", lambda a: lax.psum(a * 2, "i"), x)
mapped("pmax, pmin, pmean", lambda a: (lax.pmax(a, "i"), lax.pmin(a, "i"), lax.pmean(a, "i")), x)
mapped("all_gather", lambda a: lax.all_gather(a * 2, "i"), x, bound=0.0)
mapped("ppermute", lambda a: lax.ppermute(a * 2, "i", ring), x, bound=0.0)
mapped("psum_scatter", lambda a: lax.psum_scatter(a * 2, "i", scatter_dimension=0, tiled=True), x)
mapped("all_to_all", lambda a: lax.all_to_all(a * 2, "i", 0, 0, tiled=True), x, bound=0.0)
mapped("axis_index", lambda a: a + lax.axis_index("i"), x, bound=0.0)
mapped("a step of training", lambda w, a: w - 0.1 * lax.pmean(jax.grad(loss)(w, a), "i"), every(w, (n, *w.shape)), x)


def sharded(name, f, specs, out, *args, bound=2e-6, shape=(n,), axes=("i",)):
    def run(ds):
        mesh = Mesh(np.array(ds).reshape(shape), axes)
        placed = [jax.device_put(a, NamedSharding(mesh, s)) for a, s in zip(args, specs)]
        return leaves(jax.jit(shard_map(f, mesh=mesh, in_specs=specs, out_specs=out))(*placed))

    client.case(f"shard_map: {name}", lambda: run(kudzu), lambda: run(cpu), bound, group="shard_map")


flat = x.reshape(-1, 6)
sharded("elementwise", lambda a: jnp.exp(-a * a), (P("i"),), P("i"), flat)
sharded("psum", lambda a: lax.psum(a.sum(0), "i"), (P("i"),), P(), flat, bound=5e-6)
sharded("ppermute", lambda a: lax.ppermute(a * 2, "i", ring), (P("i"),), P("i"), flat, bound=0.0)
sharded("product by rows", lambda a, w: a @ w, (P("i"), P()), P("i"), flat, w)
sharded("product, sum over devices", lambda a, b: lax.psum(a @ b, "i"), (P(None, "i"), P("i")), P(), flat[:32].T[:, :32], flat[:32])
if n % 2 == 0:
    sharded("mesh of 2 dimensions", lambda a: lax.psum(a, "j") * 2 + lax.axis_index("k"), (P("k", "j"),), P("k"), flat[:64, :2], shape=(n // 2, 2), axes=("k", "j"))


def automatic(name, f, specs, *args, bound=5e-6):
    def run(ds):
        mesh = Mesh(np.array(ds), ("i",))
        return leaves(jax.jit(f)(*(jax.device_put(a, NamedSharding(mesh, s)) for a, s in zip(args, specs))))

    client.case(f"jit: {name}", lambda: run(kudzu), lambda: run(cpu), bound, group="jit of sharded arrays")


automatic("reductions", lambda a: (a.sum(), a.mean(0), a.max(1)), (P("i"),), flat)
automatic("product", jnp.matmul, (P("i"), P()), flat, w)
automatic("a step of training", lambda w, a: w - 0.1 * jax.grad(loss)(w, a), (P(), P("i")), w, flat)
automatic("softmax of split rows", lambda a: jax.nn.softmax(a, 1), (P(None, "i"),), rng.randn(6, 40 * n).astype(np.float32))
