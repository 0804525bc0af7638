"""tinygrad on Kudzu, against NumPy: its PTX renderer, or CUDA C++ through our NVRTC."""

import math
import os
from importlib.metadata import version

source = os.environ["CLIENT"].endswith("@nvrtc")
os.environ["DEV"] = "CUDA" if source else "CUDA:PTX"  # its switch: PTX of its own is handed to cuModuleLoadData

import numpy as np
from tinygrad import Context, Tensor, TinyJit, dtypes, nn

from rows import Client

client = Client("tinygrad, NVRTC" if source else "tinygrad, PTX", version("tinygrad"))
rng = np.random.default_rng(3)
x, y = rng.standard_normal((64, 96)).astype("f4"), rng.standard_normal((64, 96)).astype("f4")
p = np.abs(x) + np.float32(0.1)
i, j = rng.integers(-1000, 1000, (64, 96)).astype("i4"), rng.integers(1, 100, (64, 96)).astype("i4")
w, b = rng.standard_normal((96, 48)).astype("f4"), rng.standard_normal(48).astype("f4")
image, filters = rng.standard_normal((2, 6, 20, 20)).astype("f4"), rng.standard_normal((8, 6, 3, 3)).astype("f4")
q, k, v = (rng.standard_normal((2, 4, 32, 16)).astype("f4") for _ in range(3))
index = rng.integers(0, 64, 40).astype("i4")
erf = np.vectorize(math.erf)


def softmax(a):
    e = np.exp(a - a.max(-1, keepdims=True))
    return e / e.sum(-1, keepdims=True)


def convolution(a, f):
    windows = np.lib.stride_tricks.sliding_window_view(a, f.shape[2:], (2, 3))
    return np.einsum("nchwyx,fcyx->nfhw", windows, f)


def pooled(a):
    return a.reshape(2, 6, 10, 2, 10, 2).max((3, 5))


# name: tinygrad on tensors, NumPy on arrays, bound, arrays.
cases = {
    "add": (lambda a, b: a + b, np.add, 0, x, y),
    "multiply, add": (lambda a, b: a * b + a, lambda a, b: a * b + a, 1e-6, x, y),
    "divide": (lambda a, b: a / b, np.divide, 1e-6, x, p),
    "compare": (lambda a, b: a < b, np.less, 0, x, y),
    "where": (lambda a, b: (a > 0).where(a, b), lambda a, b: np.where(a > 0, a, b), 0, x, y),
    "maximum": (lambda a, b: a.maximum(b), np.maximum, 0, x, y),
    "exp": (lambda a: a.exp(), np.exp, 2e-6, x),
    "log": (lambda a: a.log(), np.log, 2e-6, p),
    "sqrt": (lambda a: a.sqrt(), np.sqrt, 1e-6, p),
    "rsqrt": (lambda a: a.rsqrt(), lambda a: 1 / np.sqrt(a), 1e-6, p),
    "sin": (lambda a: a.sin(), np.sin, 2e-6, x),
    "cos, tan": (lambda a: a.cos() + (a / 4).tan(), lambda a: np.cos(a) + np.tan(a / 4), 1e-5, x),
    "tanh": (lambda a: a.tanh(), np.tanh, 2e-6, x),
    "sigmoid": (lambda a: a.sigmoid(), lambda a: 1 / (1 + np.exp(-a)), 2e-6, x),
    "gelu": (lambda a: a.gelu(), lambda a: 0.5 * a * (1 + np.tanh(math.sqrt(2 / math.pi) * (a + 0.044715 * a**3))), 2e-6, x),
    "erf": (lambda a: a.erf(), erf, 2e-6, x),
    "pow": (lambda a, b: a**b, np.power, 1e-5, p, x),
    "floor, ceil, round": (lambda a: (a * 3).floor() + (a * 5).ceil() + (a * 7).round(), lambda a: np.floor(a * 3) + np.ceil(a * 5) + np.round(a * 7), 0, x),
    "integers": (lambda a, b: (a + b) * 3 - (a & b) ^ (a | 7), lambda a, b: (a + b) * 3 - (a & b) ^ (a | 7), 0, i, j),
    "integer division": (lambda a, b: a // b, np.floor_divide, 0, i, j),
    "remainder": (lambda a, b: a % b, np.mod, 0, i, j),
    "shifts": (lambda a: (a.cast("uint32") << 3) ^ (a.cast("uint32") >> 5), lambda a: (a.astype("u4") << 3) ^ (a.astype("u4") >> 5), 0, i),
    "i64": (lambda a, b: a.cast("int64") * 1000003 * b.cast("int64"), lambda a, b: a.astype("i8") * 1000003 * b, 0, i, j),
    "u8": (lambda a: (a.cast("uint8") * 3).cast("int32"), lambda a: (a.astype("u1") * np.uint8(3)).astype("i4"), 0, j),
    "f64": (lambda a: a.cast("float64") * 3.3 + 1.1, lambda a: a.astype("f8") * 3.3 + 1.1, 1e-15, p),
    "f16": (lambda a, b: (a.half() * b.half()).float(), lambda a, b: (a.astype("f2") * b.astype("f2")).astype("f4"), 0, x, y),
    "bf16": (lambda a: a.bfloat16().contiguous().float(), lambda a: ((a.view("u4") + 0x7FFF + (a.view("u4") >> 16 & 1)) & 0xFFFF0000).view("f4"), 0, x),
    "casts": (lambda a: (a * 100).cast("int32"), lambda a: (a * 100).astype("i4"), 0, x),
    "sum": (lambda a: a.sum(), lambda a: a.sum(dtype="f8"), 2e-6, p),
    "sum of rows": (lambda a: a.sum(1), lambda a: a.sum(1, dtype="f8"), 2e-6, x),
    "mean, variance": (lambda a: a.mean(0) + a.var(0), lambda a: a.mean(0) + a.var(0, ddof=1), 2e-6, x),
    "max, min": (lambda a: a.max(1) - a.min(1), lambda a: a.max(1) - a.min(1), 0, x),
    "prod": (lambda a: a.prod(1), lambda a: a.astype("f8").prod(1), 2e-5, p),
    "argmax": (lambda a: a.argmax(1), lambda a: a.argmax(1), 0, x),
    "any, all": (lambda a: (a > 2).any(1) & (a > -3).all(1), lambda a: (a > 2).any(1) & (a > -3).all(1), 0, x),
    "cumsum": (lambda a: a.cumsum(1), lambda a: a.cumsum(1, dtype="f8"), 2e-6, x),
    "cumsum of integers": (lambda a: a.flatten().cumsum(0), lambda a: a.flatten().cumsum(dtype="i4"), 0, i),
    "sort": (lambda a: a.sort(1)[0], lambda a: np.sort(a, 1), 0, x),
    "argsort": (lambda a: a.argsort(1), lambda a: np.argsort(a, 1), 0, x),
    "top k": (lambda a: a.topk(5, 1)[0], lambda a: -np.sort(-a, 1)[:, :5], 0, x),
    "gather": (lambda a, at: a[at], lambda a, at: a[at], 0, x, index),
    "scatter": (lambda a, at: Tensor.zeros(64, 96).contiguous().scatter_reduce(0, at.reshape(40, 1).expand(40, 96), a[:40], "sum"),
                lambda a, at: (lambda o: (np.add.at(o, at, a[:40]), o)[1])(np.zeros((64, 96))), 2e-6, x, index),
    "one hot": (lambda at: at.one_hot(64), lambda at: np.eye(64)[at], 0, index),
    "pad, shrink, flip": (lambda a: a.pad(((1, 2), (3, 4))).flip(1)[2:50, 5:], lambda a: np.pad(a, ((1, 2), (3, 4)))[:, ::-1][2:50, 5:], 0, x),
    "transpose, reshape": (lambda a: a.T.contiguous().reshape(48, 128) * 2, lambda a: a.T.reshape(48, 128) * 2, 0, x),
    "cat, stack": (lambda a, b: a.cat(b).stack(b.cat(a)) + 1, lambda a, b: np.stack([np.concatenate([a, b]), np.concatenate([b, a])]) + 1, 0, x, y),
    "tril": (lambda a: a.tril(), np.tril, 0, x),
    "einsum": (lambda a, b: Tensor.einsum("ij,kj->ik", a, b), lambda a, b: a @ b.T, 2e-6, x, y),
    "matmul f32": (lambda a, b: a @ b, lambda a, b: a.astype("f8") @ b, 2e-6, x, w),
    "matmul f16": (lambda a, b: a.half().matmul(b.half(), dtype=dtypes.float), lambda a, b: a.astype("f2").astype("f4") @ b.astype("f2").astype("f4"), 2e-6, x, w),
    "matmul bf16": (lambda a, b: a.cast("bfloat16").matmul(b.cast("bfloat16"), dtype=dtypes.float), lambda a, b: a @ b, 2e-2, x, w),
    "matmul of integers": (lambda a, b: a @ b.T, lambda a, b: a @ b.T, 0, i, j),
    "linear, relu": (lambda a, w, b: a.linear(w, b).relu(), lambda a, w, b: np.maximum(a @ w + b, 0), 2e-6, x, w, b),
    "softmax": (lambda a: a.softmax(1), softmax, 2e-6, x),
    "layer norm": (lambda a: a.layernorm(), lambda a: (a - a.mean(1, keepdims=True)) / np.sqrt(a.var(1, keepdims=True) + 1e-5), 2e-6, x),
    "convolution": (lambda a, f: a.conv2d(f), convolution, 2e-6, image, filters),
    "max pool": (lambda a: a.max_pool2d(), pooled, 0, image),
    "attention": (lambda q, k, v: q.scaled_dot_product_attention(k, v), lambda q, k, v: softmax(q @ k.swapaxes(2, 3) / 4) @ v, 2e-6, q, k, v),
    "cross entropy": (lambda a, at: a[:40].sparse_categorical_crossentropy(at), lambda a, at: -np.log(softmax(a[:40])[np.arange(40), at]).mean(), 2e-6, x, index),
}
if source:
    del cases["u8"]  # its C++ lacks the cast of the product back to 8 bits


def tensor_case(name, on, want, bound, *arrays):
    def run():
        got = on(*(Tensor(a) for a in arrays))
        return got.numpy()

    client.case(name, run, lambda: want(*arrays), bound)


def gradients():
    """A step of a small network, backwards; the same by hand."""

    def run():
        tx, tw, tb = Tensor(x), Tensor(w), Tensor(b)
        for t in (tw, tb):
            t.requires_grad = True
        ((tx @ tw + tb).relu() ** 2).mean().backward()
        return tw.grad.numpy(), tb.grad.numpy()

    def want():
        h = np.maximum(x.astype("f8") @ w + b, 0)
        g = 2 * h / h.size
        return x.T @ g, g.sum(0)

    client.case("gradients", run, want, 2e-6)


def training():
    """Steps of SGD through TinyJit, which makes a CUDA graph of them, against the same in NumPy."""
    target = np.tanh(x @ w)

    def run():
        tx, ty, tw = Tensor(x).realize(), Tensor(target).realize(), Tensor(np.zeros_like(w))
        tw.requires_grad = True
        step = nn.optim.SGD([tw], lr=0.5)

        @TinyJit
        def train():
            step.zero_grad()
            loss = (((tx @ tw).tanh() - ty) ** 2).mean()
            loss.backward()
            step.step()
            return loss.realize()

        with Context(TRAINING=1):
            losses = [train().item() for _ in range(8)]
        return np.array(losses), tw.numpy()

    def want():
        at, losses = np.zeros(w.shape), []
        for _ in range(8):
            h = np.tanh(x @ at)
            at = at - 0.5 * x.T @ (2 * (h - target) * (1 - h * h) / h.size)
            losses.append(((np.tanh(x @ at) - target) ** 2).mean())  # tinygrad is lazy: the loss is that after the step
        return np.array(losses), at

    client.case("training with TinyJit", run, want, 1e-5)


def random():
    def run():
        Tensor.manual_seed(3)
        r = Tensor.rand(100000).numpy()
        n = Tensor.randn(100000).numpy()
        return np.array([r.min() >= 0, r.max() < 1, abs(r.mean() - 0.5) < 0.005, abs(n.mean()) < 0.02, abs(n.std() - 1) < 0.01, np.unique(r).size > 90000])

    client.case("random", run, np.ones(6, bool), 0)


for name, case in cases.items():
    tensor_case(name, *case)
gradients()
training()
random()
