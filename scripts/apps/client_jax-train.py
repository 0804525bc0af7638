"""JAX with Flax and Optax on Kudzu: an MLP and a CNN train for 20 steps as on JAX's CPU, and how long a step takes on either."""

import os

import flax
import flax.linen as nn
import jax
import jax.numpy as jnp
import numpy as np
import optax

from rows import Client

client = Client("Flax", f"{flax.__version__}, JAX {jax.__version__}", "PyPI, Debian 13" if os.environ["CLIENT"].endswith("@debian13") else "PyPI")
jax.config.update("jax_default_matmul_precision", "highest")  # on GPUs JAX may choose TF32 otherwise
rng = np.random.RandomState(3)
STEPS = 20


class MLP(nn.Module):
    @nn.compact
    def __call__(self, x):
        x = x.reshape(len(x), -1)
        for width in (256, 128):
            x = nn.relu(nn.Dense(width)(x))
        return nn.Dense(10)(x)


class CNN(nn.Module):
    @nn.compact
    def __call__(self, x):
        for width in (16, 32):
            x = nn.relu(nn.Conv(width, (3, 3))(x))
            x = nn.avg_pool(x, (2, 2), (2, 2))
        x = nn.LayerNorm()(x.reshape(len(x), -1))
        return nn.Dense(10)(nn.relu(nn.Dense(64)(x)))


def training(net, device, batch):
    """A function that makes the losses of some steps from the same weights and data, on a device."""
    x = rng.__class__(5).randn(batch, 28, 28, 1).astype(np.float32)
    y = rng.__class__(7).randint(0, 10, batch)
    with jax.default_device(jax.devices("cpu")[0]):
        first = net.init(jax.random.key(0), jnp.zeros((1, 28, 28, 1)))
    optimizer = optax.adam(1e-3)

    @jax.jit
    def step(weights, state, x, y):
        loss = lambda w: optax.softmax_cross_entropy_with_integer_labels(net.apply(w, x), y).mean()
        value, gradient = jax.value_and_grad(loss)(weights)
        update, state = optimizer.update(gradient, state, weights)
        return optax.apply_updates(weights, update), state, value

    weights, x, y = (jax.device_put(a, device) for a in (first, x, y))
    state = jax.device_put(optimizer.init(first), device)

    def run(steps=STEPS):
        w, s, losses = weights, state, []
        for _ in range(steps):
            w, s, loss = step(w, s, x, y)
            losses.append(loss)
        return np.array([float(a) for a in losses], np.float32)

    return run


cpu, gpu = jax.devices("cpu")[0], jax.devices("cuda")[0]  # fails where JAX found no GPU
for name, net, batch in (("MLP", MLP(), 256), ("CNN", CNN(), 64)):
    if client.wants(name) or client.wants(f"{name}, 5 steps"):
        on_cpu, on_kudzu = training(net, cpu, batch), training(net, gpu, batch)
        client.case(name, on_kudzu, on_cpu, 1e-4, group="training, losses of 20 steps")
        client.figure(f"{name}, 5 steps", lambda f=on_kudzu: f(5), lambda f=on_cpu: f(5), group="training step")
