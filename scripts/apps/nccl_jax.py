"""JAX on four devices of Kudzu in one process: psum, all_gather, ppermute, all_to_all and a step of training by pmap, whose collectives are
NCCL's. `KUDZU_DEVICES=4 kudzu run PYTHON scripts/apps/nccl_jax.py`; a line for each case, status 1 if one is wrong."""

import os
import sys

os.environ.setdefault("XLA_PYTHON_CLIENT_PREALLOCATE", "false")  # the machine's memory is the device's

import jax
import jax.numpy as jnp
import numpy as np
from jax import lax

jax.config.update("jax_default_matmul_precision", "highest")
devices = jax.devices("cuda")
n = len(devices)
x = np.random.RandomState(3).randn(n, n * 40, 6).astype(np.float32)
bad = 0


def case(name, f, want, *args, bound=0.0):
    global bad
    try:
        got = np.asarray(jax.pmap(f, axis_name="i", devices=devices)(*args))
        far = float(np.abs(got - want).max() / np.abs(want).max())
        why = "right" if got.shape == want.shape and far <= bound else f"wrong by {far}"
    except Exception as e:
        why = f"{type(e).__name__}: {e}"
    bad |= why != "right"
    print(f"JAX {jax.__version__}, {n} devices, {name}: {why}", flush=True)


def loss(w, x):
    return jnp.mean((x @ w) ** 2)


every = np.broadcast_to
case("psum", lambda a: lax.psum(a, "i"), every(x.sum(0, dtype=np.float32), x.shape), x, bound=1e-6)
case("pmax", lambda a: lax.pmax(a, "i"), every(x.max(0), x.shape), x)
case("all_gather", lambda a: lax.all_gather(a, "i"), every(x, (n, *x.shape)), x)
case("ppermute", lambda a: lax.ppermute(a, "i", [(k, (k + 1) % n) for k in range(n)]), np.roll(x, 1, 0), x)
case("psum_scatter", lambda a: lax.psum_scatter(a, "i", scatter_dimension=0, tiled=True), x.sum(0, dtype=np.float32).reshape(n, 40, 6), x, bound=1e-6)
case("all_to_all", lambda a: lax.all_to_all(a, "i", 0, 0, tiled=True), x.reshape(n, n, 40, 6).swapaxes(0, 1).reshape(x.shape), x)
w = np.random.RandomState(4).randn(6, 3).astype(np.float32)
whole = x.reshape(-1, 6)
want = w - 0.1 * 2 * whole.T @ (whole @ w) / (len(whole) * 3)  # one device with the whole batch
case("a step of training", lambda w, a: w - 0.1 * lax.pmean(jax.grad(loss)(w, a), "i"), every(want, (n, 6, 3)), every(w, (n, 6, 3)), x, bound=2e-6)
sys.exit(bad or n < 2)
