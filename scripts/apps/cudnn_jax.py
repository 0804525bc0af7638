"""JAX's convolutions, their gradients, pooling and attention on Kudzu's cuDNN, against JAX on the CPU.
`kudzu run PYTHON scripts/apps/cudnn_jax.py [CASE…]`; a line for each case, status 1 if one is wrong."""

import os
import sys

os.environ["XLA_FLAGS"] = os.environ.get("XLA_FLAGS", "") + " --xla_gpu_enable_cudnn_layer_norm=true"
os.environ.setdefault("XLA_PYTHON_CLIENT_PREALLOCATE", "false")  # the machine's memory is the device's

import jax
import jax.numpy as jnp
import numpy as np
from jax import lax

jax.config.update("jax_default_matmul_precision", "highest")
cpu, gpu = jax.devices("cpu")[0], jax.devices("cuda")[0]
numbers = np.random.RandomState(7)
bad = 0


def case(name, f, *args, bound=3e-6):
    """Both devices compute f; the bound is of the largest difference, relative to the largest value."""
    global bad
    if len(sys.argv) > 1 and not any(word in name for word in sys.argv[1:]):
        return
    try:
        want = jax.tree.leaves(jax.jit(f)(*jax.device_put(args, cpu)))
        got = jax.tree.leaves(jax.jit(f)(*jax.device_put(args, gpu)))
        far = max(float(np.abs(np.asarray(g, np.float64) - np.asarray(w, np.float64)).max() / np.abs(np.asarray(w, np.float64)).max()) for g, w in zip(got, want))
        why = "right" if far <= bound else f"wrong by {far}"
    except Exception as e:
        why = f"{type(e).__name__}: {str(e)[:300]}"
    bad |= why != "right"
    print(f"JAX {jax.__version__}, {name}: {why}", flush=True)


def random(*shape, dtype=np.float32):
    return numbers.randn(*shape).astype(dtype)


def conv(dims, **options):
    return lambda x, w: lax.conv_general_dilated(x, w, dimension_numbers=dims, **options)


def gradients(f):
    def g(x, w):
        y = f(x, w)
        return jax.vjp(f, x, w)[1](jnp.sin(y))

    return g


two = ("NCHW", "OIHW", "NCHW")
last = ("NHWC", "HWIO", "NHWC")
forms = {
    "3 x 3": (conv(two, window_strides=(1, 1), padding="SAME"), random(2, 5, 12, 11), random(7, 5, 3, 3)),
    "stride 2": (conv(two, window_strides=(2, 2), padding=[(3, 2), (3, 3)]), random(2, 3, 21, 22), random(8, 3, 7, 7)),
    "1 x 1": (conv(two, window_strides=(1, 1), padding="VALID"), random(3, 16, 9, 9), random(24, 16, 1, 1)),
    "dilated": (conv(two, window_strides=(1, 1), padding="SAME", rhs_dilation=(2, 3)), random(2, 4, 14, 13), random(6, 4, 3, 3)),
    "groups": (conv(two, window_strides=(1, 1), padding="SAME", feature_group_count=3), random(2, 6, 10, 10), random(9, 2, 3, 3)),
    "depthwise": (conv(two, window_strides=(1, 1), padding="SAME", feature_group_count=8), random(2, 8, 10, 10), random(8, 1, 5, 5)),
    "channels last": (conv(last, window_strides=(1, 1), padding="SAME"), random(2, 12, 11, 5), random(3, 3, 5, 7)),
    "one dimension": (conv(("NCH", "OIH", "NCH"), window_strides=(2,), padding="SAME"), random(3, 4, 50), random(6, 4, 5)),
    "three dimensions": (conv(("NCDHW", "OIDHW", "NCDHW"), window_strides=(1, 1, 1), padding="SAME"), random(1, 3, 6, 7, 8), random(4, 3, 3, 3, 3)),
}
for name, (f, x, w) in forms.items():
    case(f"convolution, {name}", f, x, w)
    case(f"gradients of a convolution, {name}", gradients(f), x, w, bound=1e-5)
for dtype, bound in ((jnp.float16, 2e-3), (jnp.bfloat16, 2e-2)):
    f, x, w = forms["3 x 3"]
    case(f"convolution, {dtype.__name__}", f, jnp.asarray(x, dtype), jnp.asarray(w, dtype), bound=bound)


def net(params, x):
    for w, b in params[:2]:
        x = jax.nn.relu(lax.conv_general_dilated(x, w, (1, 1), "SAME", dimension_numbers=last) + b)
        x = lax.reduce_window(x, -jnp.inf, lax.max, (1, 2, 2, 1), (1, 2, 2, 1), "VALID")
    w, b = params[2]
    return x.reshape(len(x), -1) @ w + b


def train(params, x, labels):
    """Twenty steps of gradient descent; the losses are the answer."""

    def loss(p):
        return -jnp.mean(jnp.take_along_axis(jax.nn.log_softmax(net(p, x)), labels[:, None], 1))

    def step(p, _):
        value, g = jax.value_and_grad(loss)(p)
        return jax.tree.map(lambda a, b: a - 0.05 * b, p, g), value

    return lax.scan(step, params, None, length=20)[1]


params = [(0.3 * random(3, 3, 1, 8), random(8) * 0), (0.1 * random(3, 3, 8, 16), random(16) * 0), (0.05 * random(7 * 7 * 16, 10), random(10) * 0)]
case("a convolutional net learns for 20 steps", train, params, random(32, 28, 28, 1), numbers.randint(0, 10, 32), bound=1e-4)


def attention(**options):
    """An attention of cuDNN, and on the CPU one of XLA. Options that are None are arguments."""
    return lambda *args: jax.nn.dot_product_attention(*args[:3], implementation=None if on_cpu else "cudnn", **{k: args[3 + i] if v is None else v for i, (k, v) in enumerate(options.items())})


def compare(name, f, *args, bound=2e-2):
    """As case, where f differs between the devices: it reads on_cpu while it is traced."""
    global bad, on_cpu
    if len(sys.argv) > 1 and not any(word in name for word in sys.argv[1:]):
        return
    try:
        on_cpu = True
        want = jax.tree.leaves(jax.jit(f)(*jax.device_put(args, cpu)))
        on_cpu = False
        got = jax.tree.leaves(jax.jit(lambda *a: f(*a))(*jax.device_put(args, gpu)))
        far = max(float(np.abs(np.asarray(g, np.float64) - np.asarray(w, np.float64)).max() / np.abs(np.asarray(w, np.float64)).max()) for g, w in zip(got, want))
        why = "right" if far <= bound else f"wrong by {far}"
    except Exception as e:
        why = f"{type(e).__name__}: {str(e)[:400]}"
    bad |= why != "right"
    print(f"JAX {jax.__version__}, {name}: {why}", flush=True)


def learn(f):
    """The gradients of an attention for some gradient of what it gives."""
    return lambda *args: jax.vjp(lambda q, k, v: f(q, k, v, *args[3:]), *args[:3])[1](jnp.sin(jnp.arange(args[0].size, dtype=jnp.float32)).reshape(args[0].shape).astype(args[0].dtype))


on_cpu = False
q, k, v = (jnp.asarray(random(2, 64, 4, 64), jnp.bfloat16) for _ in range(3))
few = tuple(jnp.asarray(random(2, 64, 2, 64), jnp.bfloat16) for _ in range(2))
bias = jnp.asarray(random(1, 4, 64, 64), jnp.bfloat16)
mask = jnp.asarray(numbers.rand(1, 4, 64, 64) < 0.7)
lengths = jnp.asarray([40, 64], jnp.int32)
kinds = {
    "plain": (attention(), q, k, v),
    "causal": (attention(is_causal=True), q, k, v),
    "shared keys": (attention(is_causal=True), q, *few),
    "bias": (attention(bias=None), q, k, v, bias),
    "mask": (attention(mask=None), q, k, v, mask),
    "window": (attention(is_causal=True, local_window_size=(9, 0)), q, k, v),
}
for name, (f, *args) in kinds.items():
    compare(f"attention, {name}", f, *args)
    compare(f"gradients of attention, {name}", learn(f), *args)


def padded(f):
    """Rows past the end of a sequence are zero, whatever an implementation gives."""
    inside = (jnp.arange(64)[None, :] < lengths[:, None])[:, :, None, None]
    return lambda *args: jnp.where(inside, f(*args), 0)


f = padded(attention(query_seq_lengths=None, key_value_seq_lengths=None))
compare("attention, lengths", f, q, k, v, lengths, lengths)
compare("gradients of attention, lengths", learn(f), q, k, v, lengths, lengths)


def norm(x, scale, bias):
    mean = x.mean(-1, keepdims=True)
    return (x - mean) * lax.rsqrt(((x - mean) ** 2).mean(-1, keepdims=True) + 1e-5) * scale + bias


case("layer norm and its gradients", lambda *a: jax.vjp(norm, *a)[1](jnp.sin(norm(*a))), random(4, 32, 64), random(64), random(64), bound=1e-5)
sys.exit(bad)
