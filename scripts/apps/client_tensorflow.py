"""TensorFlow on Kudzu, against its CPU device: operators, gradients, XLA, Keras models that train, a MirroredStrategy.

Operators run without soft placement: one that has no kernel for a GPU is an error, not a run on the CPU."""

import os
import time

os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "2")
os.environ.setdefault("TF_FORCE_GPU_ALLOW_GROWTH", "true")

import numpy as np
import tensorflow as tf

from rows import Client

GPU, CPU = "/GPU:0", "/CPU:0"
STEPS = 20
client = Client("TensorFlow", tf.__version__)
gpus = tf.config.list_physical_devices("GPU")
if not gpus:
    raise SystemExit("TensorFlow sees no GPU")
if len(gpus) < 2:
    raise SystemExit("a MirroredStrategy wants KUDZU_DEVICES=2")
tf.config.set_soft_device_placement(False)
tf.config.experimental.enable_tensor_float_32_execution(False)

rng = np.random.default_rng(7)


def normal(*shape):
    return rng.standard_normal(shape).astype("f4")


a, b, pos = normal(200, 300), normal(200, 300), np.abs(normal(200, 300)) + 0.1
unit, m, n = np.tanh(normal(200, 300)), normal(96, 128), normal(128, 80)
i, j = rng.integers(-50, 50, (200, 300)), rng.integers(1, 50, (200, 300))  # of 64 bits: 32-bit integers are computed on the host
row = rng.integers(0, 200, 64).astype("i4")
spd = (lambda x: (x @ x.transpose(0, 2, 1) + 24 * np.eye(24)).astype("f4"))(normal(3, 24, 24))
square, c = normal(3, 24, 24), (normal(16, 64) + 1j * normal(16, 64)).astype("c8")
image, kernel, depthwise = normal(2, 20, 22, 8), normal(3, 3, 8, 12), normal(3, 3, 8, 2)
volume, kernel3 = normal(2, 8, 9, 10, 4), normal(3, 3, 3, 4, 6)
half, logits, labels = normal(200, 300).astype("f2"), normal(64, 40), rng.integers(0, 40, 64).astype("i4")
segments = np.sort(rng.integers(0, 20, 200)).astype("i4")


def gradient(f):
    """f and the gradients of a weighted sum of it."""

    def both(*args):
        args = [tf.identity(x) for x in args]
        with tf.GradientTape() as tape:
            tape.watch(args)
            y = f(*args)
            loss = tf.reduce_sum(y * tf.cos(y))
        return (y, *tape.gradient(loss, args))

    return both


def batch_norm(x):
    y, mean, variance = tf.compat.v1.nn.fused_batch_norm(x, tf.linspace(0.5, 2.0, 8), tf.linspace(-1.0, 1.0, 8), is_training=True)[:3]
    return y, mean, variance


def conv(x, k):
    return tf.nn.conv2d(x, k, 1, "SAME")


# A row: name, group, function, arguments, bound. A bound is a part of the largest magnitude; see rows.error.
E = 2e-6
OPERATORS = [
    *((name, "elementwise", f, (a, b), E) for name, f in [
        ("add", tf.add), ("subtract", tf.subtract), ("multiply", tf.multiply), ("divide", tf.divide), ("maximum", tf.maximum),
        ("minimum", tf.minimum), ("squared_difference", tf.math.squared_difference), ("atan2", tf.atan2),
        ("where", lambda x, y: tf.where(x > y, x, y)), ("greater", lambda x, y: tf.cast(x > y, tf.float32)),
        ("broadcast", lambda x, y: x[:, :1] + y[:1]), ("add_n", lambda x, y: tf.add_n([x, y, x]))]),
    *((name, "elementwise", f, (a,), E) for name, f in [
        ("exp", tf.exp), ("expm1", tf.math.expm1), ("sin", tf.sin), ("cos", tf.cos), ("tan", lambda x: tf.tan(x / 4)), ("sinh", tf.sinh),
        ("tanh", tf.tanh), ("sigmoid", tf.sigmoid), ("relu", tf.nn.relu), ("elu", tf.nn.elu), ("selu", tf.nn.selu), ("gelu", tf.nn.gelu),
        ("softplus", tf.nn.softplus), ("erf", tf.math.erf), ("erfc", tf.math.erfc), ("floor", tf.floor), ("round", tf.round), ("sign", tf.sign),
        ("abs", tf.abs), ("clip", lambda x: tf.clip_by_value(x, -1.0, 0.5)), ("is_nan", lambda x: tf.cast(tf.math.is_nan(x / 0.0 - x / 0.0), tf.int32)),
        ("cast_f16", lambda x: tf.cast(tf.cast(x, tf.float16), tf.float32)), ("cast_bf16", lambda x: tf.cast(tf.cast(x, tf.bfloat16), tf.float32)),
        ("cast_i32", lambda x: tf.cast(x * 10, tf.int64))]),
    *((name, "elementwise", f, (pos,), 1e-5) for name, f in [
        ("log", tf.math.log), ("log1p", tf.math.log1p), ("sqrt", tf.sqrt), ("rsqrt", tf.math.rsqrt), ("reciprocal", tf.math.reciprocal),
        ("pow", lambda x: tf.pow(x, 1.7)), ("lgamma", tf.math.lgamma), ("digamma", tf.math.digamma), ("igamma", lambda x: tf.math.igamma(x, x + 0.5)),
        ("zeta", lambda x: tf.math.zeta(x + 1.2, x))]),
    *((name, "elementwise", f, (unit,), 1e-5) for name, f in [
        ("asin", tf.asin), ("acos", tf.acos), ("atan", tf.atan), ("atanh", tf.atanh), ("erfinv", tf.math.erfinv)]),
    *((name, "integer", f, (i, j), 0) for name, f in [
        ("floordiv", lambda x, y: x // y), ("floormod", lambda x, y: x % y), ("bitwise_and", tf.bitwise.bitwise_and), ("bitwise_xor", tf.bitwise.bitwise_xor),
        ("left_shift", lambda x, y: tf.bitwise.left_shift(x, y % 8)), ("multiply_i64", tf.multiply)]),
    *((name, "reduction", f, (a,), 2e-5) for name, f in [
        ("sum", tf.reduce_sum), ("sum0", lambda x: tf.reduce_sum(x, 0)), ("sum1", lambda x: tf.reduce_sum(x, 1)), ("mean", tf.reduce_mean),
        ("max1", lambda x: tf.reduce_max(x, 1)), ("min0", lambda x: tf.reduce_min(x, 0)), ("prod1", lambda x: tf.reduce_prod(x[:, :20], 1)),
        ("any", lambda x: tf.cast(tf.reduce_any(x > 2.5, 1), tf.int32)), ("all", lambda x: tf.cast(tf.reduce_all(x > -2.5, 1), tf.int32)),
        ("logsumexp", lambda x: tf.reduce_logsumexp(x, 1)), ("variance", lambda x: tf.math.reduce_variance(x, 0)), ("argmax", lambda x: tf.argmax(x, 1)),
        ("argmin", lambda x: tf.argmin(x, 0)), ("cumsum", lambda x: tf.cumsum(x, 1)), ("cumprod", lambda x: tf.math.cumprod(x[:, :20], 1, reverse=True)),
        ("l2_loss", tf.nn.l2_loss), ("norm", lambda x: tf.norm(x, axis=1)), ("euclidean", lambda x: tf.math.l2_normalize(x, 1))]),
    ("segment_sum", "reduction", lambda x: tf.math.segment_sum(x, segments), (a,), 2e-5),
    ("unsorted_segment_max", "reduction", lambda x: tf.math.unsorted_segment_max(x, segments, 20), (a,), E),
    ("bincount", "reduction", lambda x: tf.math.bincount(x, minlength=40, maxlength=40), (labels,), 0),
    *((name, "shape", f, (a,), 0) for name, f in [
        ("transpose", tf.transpose), ("reverse", lambda x: tf.reverse(x, [1])), ("roll", lambda x: tf.roll(x, 17, 1)), ("tile", lambda x: tf.tile(x, [2, 3])),
        ("pad", lambda x: tf.pad(x, [[1, 2], [3, 4]], "REFLECT")), ("concat", lambda x: tf.concat([x, x * 2, x[:, :7]], 1)), ("stack", lambda x: tf.stack([x, -x], 1)),
        ("split", lambda x: tuple(tf.split(x, 4))), ("strided_slice", lambda x: x[3:190:3, ::-2]), ("gather", lambda x: tf.gather(x, row)),
        ("gather_nd", lambda x: tf.gather_nd(x, np.stack([row, row], 1))), ("scatter_nd", lambda x: tf.scatter_nd(np.arange(0, 200, 2)[:, None], x[:100], [300, 300])),
        ("scatter_add", lambda x: tf.tensor_scatter_nd_add(x, np.arange(5)[:, None], x[10:15])), ("one_hot", lambda x: tf.one_hot(labels, 40)),
        ("eye", lambda x: tf.eye(40) + x[:40, :40]), ("band_part", lambda x: tf.linalg.band_part(x, 3, 5)), ("diag", lambda x: tf.linalg.diag(x[0])),
        ("boolean_mask", lambda x: tf.boolean_mask(x, np.arange(200) % 3 == 0)), ("nonzero", lambda x: tf.where(x > 1.5)),
        ("unique", lambda x: tuple(tf.unique(tf.cast(x[0] * 4, tf.int64)))), ("space_to_depth", lambda x: tf.nn.space_to_depth(tf.reshape(x, [1, 200, 300, 1]), 2)),
        ("sort", lambda x: tf.sort(x, 1)), ("argsort", lambda x: tf.argsort(x, 1)), ("top_k", lambda x: tuple(tf.math.top_k(x, 9))),
        ("searchsorted", lambda x: tf.searchsorted(tf.sort(x[0]), x[1]))]),
    ("matmul", "products", tf.matmul, (m, n), 1e-5),
    ("matmul_t", "products", lambda x, y: tf.matmul(x, y, transpose_a=True, transpose_b=True), (m.T.copy(), n.T.copy()), 1e-5),
    ("batch_matmul", "products", tf.matmul, (square, spd), 1e-5),
    ("einsum", "products", lambda x, y: tf.einsum("bij,bkj->bik", x, y), (square, spd), 1e-5),
    ("tensordot", "products", lambda x, y: tf.tensordot(x, y, [[0, 1], [0, 1]]), (square, spd), 1e-5),
    ("matvec", "products", lambda x, y: tf.linalg.matvec(x, y[:, 0]), (m, n), 1e-5),
    ("matmul_f16", "products", lambda x, y: tf.cast(tf.matmul(x, y, transpose_b=True), tf.float32), (half, half), 3e-3),
    ("matmul_f64", "products", lambda x, y: tf.matmul(tf.cast(x, tf.float64), tf.cast(y, tf.float64)), (m, n), 1e-13),
    ("matmul_complex", "products", lambda x: tf.matmul(x, x, adjoint_b=True), (c,), 1e-5),
    ("sparse_dense", "products", lambda x, y: tf.sparse.sparse_dense_matmul(tf.sparse.from_dense(x * tf.cast(x > 1, tf.float32)), y), (m, n), 1e-5),
    ("cholesky", "linalg", tf.linalg.cholesky, (spd,), 1e-5),
    ("solve", "linalg", lambda x, y: tf.linalg.solve(x, y), (spd, square), 1e-4),
    ("triangular_solve", "linalg", lambda x, y: tf.linalg.triangular_solve(tf.linalg.cholesky(x), y), (spd, square), 1e-4),
    ("inverse", "linalg", tf.linalg.inv, (spd,), 1e-4),
    ("det", "linalg", lambda x: tf.linalg.slogdet(x)[1], (spd,), 1e-5),
    ("eigh", "linalg", lambda x: tf.linalg.eigvalsh(x), (spd,), 1e-5),
    ("svd", "linalg", lambda x: tf.linalg.svd(x, compute_uv=False), (square,), 1e-5),
    ("qr", "linalg", lambda x: (lambda q, r: tf.matmul(q, r))(*tf.linalg.qr(x)), (square,), 1e-5),
    ("lu", "linalg", lambda x: tuple(tf.linalg.lu(x)), (spd,), 1e-4),
    ("lstsq", "linalg", lambda x, y: tf.linalg.lstsq(x, y, fast=True), (spd, square), 1e-3),
    ("fft", "fft", tf.signal.fft, (c,), 1e-5), ("ifft2d", "fft", tf.signal.ifft2d, (c,), 1e-5),
    ("rfft", "fft", tf.signal.rfft, (a,), 1e-5), ("irfft", "fft", tf.signal.irfft, (c,), 1e-5),
    ("fft3d", "fft", lambda x: tf.signal.fft3d(tf.reshape(x, [4, 4, 64])), (c,), 1e-5),
    ("stft", "fft", lambda x: tf.signal.stft(tf.reshape(x, [-1]), 128, 64), (a,), 1e-5),
    ("softmax", "nn", tf.nn.softmax, (a,), E), ("log_softmax", "nn", tf.nn.log_softmax, (a,), E),
    ("cross_entropy", "nn", lambda x: tf.nn.sparse_softmax_cross_entropy_with_logits(labels, x), (logits,), E),
    ("conv2d", "nn", conv, (image, kernel), 1e-5),
    ("conv2d_strided", "nn", lambda x, k: tf.nn.conv2d(x, k, 2, "VALID"), (image, kernel), 1e-5),
    ("conv2d_dilated", "nn", lambda x, k: tf.nn.conv2d(x, k, 1, "SAME", dilations=2), (image, kernel), 1e-5),
    ("depthwise_conv", "nn", lambda x, k: tf.nn.depthwise_conv2d(x, k, [1, 1, 1, 1], "SAME"), (image, depthwise), 1e-5),
    ("conv_transpose", "nn", lambda x, k: tf.nn.conv2d_transpose(x, tf.transpose(k, [0, 1, 3, 2]), [2, 40, 44, 12], 2), (image, kernel), 1e-5),
    ("conv3d", "nn", lambda x, k: tf.nn.conv3d(x, k, [1, 1, 1, 1, 1], "SAME"), (volume, kernel3), 1e-5),
    ("conv1d", "nn", lambda x: tf.nn.conv1d(tf.reshape(x, [2, 440, 8]), kernel[0], 1, "SAME"), (image,), 1e-5),
    ("max_pool", "nn", lambda x: tf.nn.max_pool2d(x, 3, 2, "SAME"), (image,), 0),
    ("avg_pool", "nn", lambda x: tf.nn.avg_pool2d(x, 3, 2, "VALID"), (image,), E),
    ("batch_norm", "nn", batch_norm, (image,), 2e-5),
    ("bias_add", "nn", lambda x: tf.nn.bias_add(x, tf.linspace(-1.0, 1.0, 8)), (image,), E),
    ("resize_bilinear", "nn", lambda x: tf.image.resize(x, [31, 45]), (image,), 1e-5),
    ("resize_nearest", "nn", lambda x: tf.image.resize(x, [31, 45], "nearest"), (image,), 0),
    ("crop_and_resize", "nn", lambda x: tf.image.crop_and_resize(x, [[0.1, 0.2, 0.8, 0.9]], [0], [12, 14]), (image,), 1e-5),
    ("lrn", "nn", lambda x: tf.nn.local_response_normalization(x, 2), (image,), 1e-5),
    ("embedding", "nn", lambda x: tf.nn.embedding_lookup(x, labels), (a,), 0),
    ("stateless_uniform", "random", lambda x: tf.random.stateless_uniform([5000], [3, 4], alg="philox") + x[0, 0], (a,), E),
    ("stateless_normal", "random", lambda x: tf.random.stateless_normal([5000], [3, 4], alg="philox") + x[0, 0], (a,), 1e-5),
    ("stateless_integers", "random", lambda x: tf.random.stateless_uniform([5000], [3, 4], 0, 1000, tf.int32, alg="philox") + tf.cast(x[0, 0], tf.int32), (a,), 0),
    *((f"d_{name}", "gradients", gradient(f), args, bound) for name, f, args, bound in [
        ("matmul", tf.matmul, (m, n), 2e-5), ("tanh", tf.tanh, (a,), 1e-5), ("softmax", tf.nn.softmax, (a,), 1e-5), ("conv2d", conv, (image, kernel), 2e-5),
        ("depthwise", lambda x, k: tf.nn.depthwise_conv2d(x, k, [1, 1, 1, 1], "SAME"), (image, depthwise), 2e-5),
        ("max_pool", lambda x: tf.nn.max_pool2d(x, 2, 2, "SAME"), (image,), 1e-5), ("avg_pool", lambda x: tf.nn.avg_pool2d(x, 2, 2, "SAME"), (image,), 1e-5),
        ("batch_norm", lambda x: batch_norm(x)[0], (image,), 2e-5), ("gather", lambda x: tf.gather(x, row), (a,), 1e-5), ("gelu", tf.nn.gelu, (a,), 1e-5),
        ("cholesky", tf.linalg.cholesky, (spd,), 1e-4), ("rfft", lambda x: tf.abs(tf.signal.rfft(x)), (a,), 1e-4), ("conv3d", lambda x, k: tf.nn.conv3d(x, k, [1] * 5, "SAME"), (volume, kernel3), 2e-5),
        ("resize", lambda x: tf.image.resize(x, [31, 45]), (image,), 1e-5)]),
]
XLA = """add exp gelu pow where sum0 sum1 max1 argmax cumsum softmax transpose gather sort top_k matmul batch_matmul einsum matmul_f16 cholesky
triangular_solve fft rfft conv2d conv2d_strided depthwise_conv max_pool batch_norm stateless_normal d_matmul d_softmax d_conv2d d_batch_norm d_gather""".split()


def host(y):
    if isinstance(y, (tuple, list)):
        return tuple(host(x) for x in y)
    return tf.convert_to_tensor(y).numpy()


def on(device, f, args):
    def run():
        with tf.device(device):
            return host(f(*(tf.identity(x) for x in args)))

    return run


for name, group, f, args, bound in OPERATORS:
    client.case(name, on(GPU, f, args), on(CPU, f, args), bound, group=group)
for name, group, f, args, bound in OPERATORS:
    if name in XLA:
        client.case(f"xla_{name}", on(GPU, tf.function(f, jit_compile=True), args), on(CPU, f, args), max(bound, 2e-5 if bound else 0), group="XLA")

tf.config.set_soft_device_placement(True)  # Keras reads its data and keeps its counters on the host
keras = tf.keras
layers = keras.layers


def cnn():
    return keras.Sequential([
        layers.Input((32, 32, 3)), layers.Conv2D(16, 3, padding="same"), layers.BatchNormalization(), layers.ReLU(), layers.MaxPooling2D(),
        layers.Conv2D(32, 3, padding="same", activation="relu"), layers.DepthwiseConv2D(3, padding="same"), layers.Conv2D(64, 3, strides=2, activation="relu"),
        layers.GlobalAveragePooling2D(), layers.Dense(10)]), normal(32, 32, 32, 3), rng.integers(0, 10, 32), "sgd"


def lstm():
    return keras.Sequential([
        layers.Input((24,)), layers.Embedding(200, 32), layers.LSTM(48, return_sequences=True), layers.Bidirectional(layers.GRU(24)),
        layers.Dense(10)]), rng.integers(0, 200, (32, 24)), rng.integers(0, 10, 32), "adam"


def transformer():
    x = inputs = layers.Input((32,), dtype="int32")
    x = layers.Embedding(200, 64)(x)
    for _ in range(2):
        y = layers.LayerNormalization()(x)
        x = x + layers.MultiHeadAttention(4, 16)(y, y, use_causal_mask=True)
        y = layers.LayerNormalization()(x)
        x = x + layers.Dense(64)(layers.Dense(128, activation="gelu")(y))
    return keras.Model(inputs, layers.Dense(10)(layers.GlobalAveragePooling1D()(x))), rng.integers(0, 200, (16, 32)), rng.integers(0, 10, 16), "adam"


def stepper(device, make, jit, weights):
    """A step of training a model from the weights, and the model."""
    model, x, y, optimizer = make
    with tf.device(device):
        model = keras.models.clone_model(model)
        model.set_weights(weights)
        rate = {"sgd": keras.optimizers.SGD(0.02, momentum=0.9), "adam": keras.optimizers.Adam(1e-3)}[optimizer]
        model.compile(rate, keras.losses.SparseCategoricalCrossentropy(from_logits=True), jit_compile=jit)
        x, y = tf.constant(x), tf.constant(y)

    def step():
        with tf.device(device):
            return float(np.ravel(model.train_on_batch(x, y))[0])

    return step, model


def train(device, make, jit, weights, steps=STEPS):
    """The losses of steps of training from the same weights, and the weights after them."""
    step, model = stepper(device, make, jit, weights)
    losses = np.array([step() for _ in range(steps)])
    return losses, np.concatenate([np.ravel(w) for w in model.get_weights()])


for model in (cnn, lstm, transformer):
    for jit in (False, "auto"):
        name = f"train_{model.__name__}" + ("_auto" if jit else "")
        if not client.wants(name) and not client.wants(f"{name}_step"):
            continue
        make = model()
        weights = make[0].get_weights()
        client.case(name, lambda: train(GPU, make, jit, weights)[0], lambda: train(CPU, make, jit, weights)[0], 2e-3, group="training")
        if client.wants(f"{name}_step"):
            client.figure(f"{name}_step", stepper(GPU, make, jit, weights)[0], stepper(CPU, make, jit, weights)[0], group="training step")


def mirrored(devices):
    strategy = tf.distribute.MirroredStrategy(devices)
    x, y = data
    with strategy.scope():
        w = tf.Variable(start[0])
        v = tf.Variable(start[1])
        optimizer = keras.optimizers.SGD(0.05, momentum=0.9)
        optimizer.build([w, v])
    per = len(x) // len(devices)

    @tf.function
    def step(x, y):
        def replica(x, y):
            with tf.GradientTape() as tape:
                loss = tf.reduce_sum((tf.matmul(tf.nn.relu(tf.matmul(x, w)), v) - y) ** 2) / len(data[0])
            optimizer.apply_gradients(zip(tape.gradient(loss, [w, v]), [w, v]))
            return loss

        return strategy.reduce(tf.distribute.ReduceOp.SUM, strategy.run(replica, args=(x, y)), axis=None)

    def part(z):
        return strategy.experimental_distribute_values_from_function(lambda c: tf.constant(z[c.replica_id_in_sync_group * per:][:per]))

    px, py = part(x), part(y)
    return np.array([float(step(px, py)) for _ in range(STEPS)]), host(w.value()), host(v.value())


data, start = (normal(64, 20), normal(64, 5)), (normal(20, 40) / 5, normal(40, 5) / 6)
client.case("mirrored_strategy", lambda: mirrored(["/GPU:0", "/GPU:1"]), lambda: mirrored([CPU]), 1e-4, group="distributed")
