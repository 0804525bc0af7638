"""Graphs through cudnn-frontend against NumPy: kudzu run -- python3 scripts/apps/cudnn_frontend.py

Needs the Python module of cudnn-frontend (PyPI: nvidia-cudnn-frontend, cuda-bindings) and NumPy. Prints a line a graph, and how many
were wrong."""
import ctypes
import math
import sys

import cudnn
import numpy as np


def runtime():
    """The CUDA runtime, whichever is there."""
    for name in ("libcudart.so.13", "libcudart.so.12"):
        try:
            return ctypes.CDLL(name)
        except OSError:
            pass
    raise OSError("no CUDA runtime")


cudart = runtime()
rng = np.random.default_rng(7)
handle = cudnn.create_handle()
failed = 0
TYPES = {np.dtype("f4"): cudnn.data_type.FLOAT, np.dtype("f2"): cudnn.data_type.HALF, np.dtype("i4"): cudnn.data_type.INT32, np.dtype("f8"): cudnn.data_type.DOUBLE}


def must(status):
    if status:
        raise RuntimeError("CUDA error %d" % status)


class Graph:
    """A graph and the memory of its tensors."""

    def __init__(self, io="f4"):
        self.g = cudnn.pygraph(handle=handle, io_data_type=TYPES[np.dtype(io)], intermediate_data_type=cudnn.data_type.FLOAT, compute_data_type=cudnn.data_type.FLOAT)
        self.memory, self.results, self.kept = {}, [], []

    def alloc(self, n):
        p = ctypes.c_void_p()
        must(cudart.cudaMalloc(ctypes.byref(p), ctypes.c_size_t(max(n, 1))))
        return p.value

    def give(self, array, stride=None):
        """A tensor of the graph with the numbers of an array; strides in elements put it elsewhere than in the array's order."""
        array = np.asarray(array)
        stride = stride or [s // array.itemsize for s in np.ascontiguousarray(array).strides]
        span = 1 + sum((d - 1) * s for d, s in zip(array.shape, stride))
        flat = np.zeros(span, array.dtype)
        np.lib.stride_tricks.as_strided(flat, array.shape, [s * array.itemsize for s in stride])[...] = array
        t = self.g.tensor(dim=list(array.shape), stride=list(stride), data_type=TYPES[array.dtype])
        p = self.alloc(flat.nbytes)
        must(cudart.cudaMemcpy(ctypes.c_void_p(p), flat.ctypes.data_as(ctypes.c_void_p), ctypes.c_size_t(flat.nbytes), 1))
        self.memory[t] = p
        return t

    def number(self, v):
        a = np.full((1, 1, 1, 1), v, "f4")
        t = self.g.tensor(dim=[1, 1, 1, 1], stride=[1, 1, 1, 1], data_type=cudnn.data_type.FLOAT, is_pass_by_value=True)
        self.kept.append(a)
        self.memory[t] = a.ctypes.data
        return t

    def take(self, t, shape, dtype="f4", tolerance=1e-4, want=None):
        """A result: what NumPy says it is, and how near it must be."""
        want = np.asarray(want)
        t.set_output(True).set_data_type(TYPES[np.dtype(dtype)])
        self.results.append((t, tuple(shape), np.dtype(dtype), tolerance, want))

    def run(self, name):
        global failed
        try:
            for t, shape, dtype, _, _ in self.results:
                t.set_dim(list(shape)).set_stride([int(s) for s in np.cumprod((1,) + shape[:0:-1])[::-1]])
                self.memory[t] = self.alloc(math.prod(shape) * dtype.itemsize)
            self.g.build([cudnn.heur_mode.A, cudnn.heur_mode.FALLBACK])
            work = self.alloc(self.g.get_workspace_size())
            self.g.execute(self.memory, work, handle=handle)
            must(cudart.cudaDeviceSynchronize())
            worst = 0.0
            for t, shape, dtype, tolerance, want in self.results:
                got = np.empty(shape, dtype)
                must(cudart.cudaMemcpy(got.ctypes.data_as(ctypes.c_void_p), ctypes.c_void_p(self.memory[t]), ctypes.c_size_t(got.nbytes), 2))
                error = float((abs(got.astype("f8") - want.reshape(shape)) / (1 + abs(want.reshape(shape)))).max())
                worst = max(worst, error / tolerance)
            good = worst <= 1
            print("%-36s %s %.2g" % (name, "ok" if good else "WRONG", worst))
        except Exception as e:
            good = False
            print("%-36s FAILED %s" % (name, str(e).replace("\n", " ")[:200]))
        failed += not good


def normal(*shape, dtype="f4"):
    return rng.standard_normal(shape).astype(dtype)


def convolve(x, w, pad, stride, dilation):
    """y of a convolution of images, by sums over the taps."""
    n, c, h, v = x.shape
    k, _, r, s = w.shape
    x = np.pad(x.astype("f8"), ((0, 0), (0, 0), (pad, pad), (pad, pad)))
    p, q = (x.shape[2] - dilation * (r - 1) - 1) // stride + 1, (x.shape[3] - dilation * (s - 1) - 1) // stride + 1
    y = np.zeros((n, k, p, q))
    for i in range(r):
        for j in range(s):
            part = x[:, :, i * dilation:i * dilation + (p - 1) * stride + 1:stride, j * dilation:j * dilation + (q - 1) * stride + 1:stride]
            y += np.einsum("nchw,kc->nkhw", part, w[:, :, i, j].astype("f8"))
    return y


def nhwc(n, c, h, w):
    return [c * h * w, 1, w * c, c]


def conv_graphs():
    x, w, b = normal(2, 8, 10, 9), normal(16, 8, 3, 3), normal(1, 16, 1, 1)
    g = Graph()
    y = g.g.conv_fprop(image=g.give(x, nhwc(*x.shape)), weight=g.give(w, nhwc(*w.shape)), padding=[1, 1], stride=[1, 1], dilation=[1, 1])
    g.take(y, (2, 16, 10, 9), want=convolve(x, w, 1, 1, 1))
    g.run("convolution, NHWC")
    g = Graph()
    y = g.g.conv_fprop(image=g.give(x), weight=g.give(w), padding=[1, 1], stride=[2, 2], dilation=[1, 1])
    y = g.g.relu(g.g.bias(input=y, bias=g.give(b)))
    want = np.maximum(convolve(x, w, 1, 2, 1) + b, 0)
    g.take(y, want.shape, want=want)
    g.run("convolution, bias, ReLU, stride 2")
    dy = normal(2, 16, 10, 9)
    g = Graph()
    dx = g.g.conv_dgrad(loss=g.give(dy), filter=g.give(w), padding=[1, 1], stride=[1, 1], dilation=[1, 1])
    flipped = np.ascontiguousarray(w.transpose(1, 0, 2, 3)[:, :, ::-1, ::-1])
    g.take(dx, x.shape, want=convolve(dy, flipped, 1, 1, 1))
    g.run("gradient of images")
    g = Graph()
    dw = g.g.conv_wgrad(image=g.give(x), loss=g.give(dy), padding=[1, 1], stride=[1, 1], dilation=[1, 1])
    want = convolve(np.ascontiguousarray(x.transpose(1, 0, 2, 3)), np.ascontiguousarray(dy.transpose(1, 0, 2, 3)), 1, 1, 1).transpose(1, 0, 2, 3)
    g.take(dw, w.shape, want=want)
    g.run("gradient of filters")


def matmul_graphs():
    a, b = normal(3, 20, 33, dtype="f2"), normal(3, 33, 17, dtype="f2")
    product = a.astype("f8") @ b.astype("f8")
    g = Graph("f2")
    g.take(g.g.matmul(g.give(a), g.give(b)), product.shape, "f2", 2e-3, product)
    g.run("product of halves")
    bias = normal(1, 1, 17)
    g = Graph("f2")
    c = g.g.matmul(g.give(a), g.give(b))
    c = g.g.gelu(g.g.add(c, g.give(bias)))
    z = product + bias
    g.take(c, product.shape, "f4", 2e-3, 0.5 * z * (1 + np.vectorize(math.erf)(z / math.sqrt(2))))
    g.run("product, bias, GELU")
    g = Graph()
    x, y = normal(2, 9, 31), np.ascontiguousarray(normal(2, 8, 31))
    turned = [8 * 31, 1, 31]
    t = g.give(y.transpose(0, 2, 1), turned)
    g.take(g.g.matmul(g.give(x), t), (2, 9, 8), want=x @ y.transpose(0, 2, 1))
    g.run("product with a turned matrix")


def point_graphs():
    x, y, b = normal(4, 6, 5, 7), normal(4, 6, 5, 7), normal(1, 6, 1, 1)
    for name, make, want in [
        ("add with a bias", lambda g, p, q: g.add(p, q), x + b),
        ("multiply, tanh", lambda g, p, q: g.tanh(g.mul(p, q)), np.tanh(x * b)),
        ("sigmoid of a difference", lambda g, p, q: g.sigmoid(g.sub(p, q)), 1 / (1 + np.exp(-(x - b)))),
        ("swish", lambda g, p, q: g.swish(g.add(p, q)), (x + b) / (1 + np.exp(-(x + b)))),
        ("larger of two, exp", lambda g, p, q: g.exp(g.max(p, q)), np.exp(np.maximum(x, b))),
    ]:
        g = Graph()
        g.take(make(g.g, g.give(x), g.give(b)), x.shape, want=want)
        g.run(name)
    g = Graph()
    g.take(g.g.relu_backward(loss=g.give(y), input=g.give(x)), x.shape, want=y * (x > 0))
    g.run("gradient of ReLU")


def reduction_graphs():
    x = normal(4, 6, 5, 7)
    for name, mode, want in [("sum", cudnn.reduction_mode.ADD, x.sum((0, 2, 3), keepdims=True)), ("largest", cudnn.reduction_mode.MAX, x.max((0, 2, 3), keepdims=True))]:
        g = Graph()
        g.take(g.g.reduction(input=g.give(x), mode=mode), (1, 6, 1, 1), want=want)
        g.run("reduction: " + name)


def norm_graphs():
    x, scale, bias = normal(12, 32, 1, 1), normal(1, 32, 1, 1), normal(1, 32, 1, 1)
    mean, var = x.mean(1, keepdims=True), x.var(1, keepdims=True)
    g = Graph()
    y, m, i = g.g.layernorm(norm_forward_phase=cudnn.norm_forward_phase.TRAINING, input=g.give(x), scale=g.give(scale), bias=g.give(bias), epsilon=g.number(1e-3))
    g.take(y, x.shape, want=(x - mean) / np.sqrt(var + 1e-3) * scale + bias)
    g.take(m, (12, 1, 1, 1), want=mean)
    g.take(i, (12, 1, 1, 1), want=1 / np.sqrt(var + 1e-3))
    g.run("layer norm")
    square = (x.astype("f8") ** 2).mean(1, keepdims=True)
    g = Graph()
    y, i = g.g.rmsnorm(norm_forward_phase=cudnn.norm_forward_phase.TRAINING, input=g.give(x), scale=g.give(scale), epsilon=g.number(1e-3))
    g.take(y, x.shape, want=x / np.sqrt(square + 1e-3) * scale)
    g.take(i, (12, 1, 1, 1), want=1 / np.sqrt(square + 1e-3))
    g.run("RMS norm")
    x, scale, bias = normal(4, 8, 6, 5), normal(1, 8, 1, 1), normal(1, 8, 1, 1)
    mean, var = x.mean((2, 3), keepdims=True), x.var((2, 3), keepdims=True)
    g = Graph()
    y, m, i = g.g.instancenorm(norm_forward_phase=cudnn.norm_forward_phase.TRAINING, input=g.give(x), scale=g.give(scale), bias=g.give(bias), epsilon=g.number(1e-3))
    g.take(y, x.shape, want=(x - mean) / np.sqrt(var + 1e-3) * scale + bias)
    g.take(m, (4, 8, 1, 1), want=mean)
    g.take(i, (4, 8, 1, 1), want=1 / np.sqrt(var + 1e-3))
    g.run("instance norm")


def attention_graphs():
    q, k, v = (normal(2, 3, 16, 32, dtype="f2") for _ in range(3))
    scores = np.einsum("bhqd,bhkd->bhqk", q.astype("f8"), k.astype("f8")) / math.sqrt(32)
    for causal in (False, True):
        s = np.where(np.tril(np.ones((16, 16))) > 0, scores, -np.inf) if causal else scores
        p = np.exp(s - s.max(-1, keepdims=True))
        want = (p / p.sum(-1, keepdims=True)) @ v.astype("f8")
        g = Graph("f2")
        o, _ = g.g.sdpa(name="sdpa", q=g.give(q), k=g.give(k), v=g.give(v), generate_stats=False, attn_scale=1 / math.sqrt(32), use_causal_mask=causal)
        g.take(o, want.shape, "f2", 3e-3, want)
        g.run("attention" + (", causal" if causal else ""))


class Attention:
    """An attention in NumPy, forward and backward: masked and added are what happens to the scores."""

    def __init__(self, q, k, v, added=0, masked=None, kept=1, sink=None):
        self.q, self.v = q.astype("f8"), np.repeat(v, q.shape[1] // v.shape[1], 1).astype("f8")
        self.k = np.repeat(k, q.shape[1] // k.shape[1], 1).astype("f8")
        self.scale, self.group = 1 / math.sqrt(q.shape[-1]), q.shape[1] // k.shape[1]
        s = self.q @ self.k.transpose(0, 1, 3, 2) * self.scale + added
        s = s if masked is None else np.where(masked, -np.inf, s)
        most = np.maximum(s.max(-1, keepdims=True), -1e30)
        e = np.exp(s - most)
        total = e.sum(-1, keepdims=True)
        if sink is not None:
            total = total + np.exp(sink - most)
        self.p = np.divide(e, total, out=np.zeros_like(e), where=total > 0)
        with np.errstate(divide="ignore"):
            self.stats = most + np.log(total)
        self.o = (self.p * kept) @ self.v
        self.kept = kept

    def back(self, do):
        do = do.astype("f8")
        fold = lambda x: x.reshape(x.shape[0], -1, self.group, *x.shape[2:]).sum(2)
        dp = do @ self.v.transpose(0, 1, 3, 2) * self.kept
        ds = self.p * (dp - (dp * self.p).sum(-1, keepdims=True))
        return ds @ self.k * self.scale, fold(ds.transpose(0, 1, 3, 2) @ self.q * self.scale), fold((self.p * self.kept).transpose(0, 1, 3, 2) @ do), ds


def attention_forms():
    q, k, v = normal(2, 4, 16, 32, dtype="f2"), normal(2, 2, 24, 32, dtype="f2"), normal(2, 2, 24, 32, dtype="f2")
    rows, columns = np.arange(16)[:, None], np.arange(24)[None, :]
    bias = normal(1, 4, 16, 24, dtype="f2")
    lengths = np.array([9, 16], "i4").reshape(2, 1, 1, 1), np.array([24, 13], "i4").reshape(2, 1, 1, 1)
    padding = (rows >= lengths[0]) | (columns >= lengths[1])
    sink = normal(1, 4, 1, 1)
    slopes = 2.0 ** (-2 * np.arange(1, 5)).reshape(1, 4, 1, 1)
    causal = columns > rows
    for name, options, want in [
        ("shared keys, statistics", {}, Attention(q, k, v)),
        ("bias", {"bias": bias}, Attention(q, k, v, bias)),
        ("slopes", {"use_alibi_mask": True, "use_causal_mask": True}, Attention(q, k, v, slopes * (columns - rows), causal)),
        ("window", {"use_causal_mask": True, "diagonal_band_left_bound": 5}, Attention(q, k, v, masked=causal | (columns <= rows - 5))),
        ("last corner", {"use_causal_mask_bottom_right": True}, Attention(q, k, v, masked=columns > rows + 8)),
        ("lengths", {"use_padding_mask": True, "seq_len_q": lengths[0], "seq_len_kv": lengths[1]}, Attention(q, k, v, masked=padding)),
        ("sink", {"sink_token": sink}, Attention(q, k, v, sink=sink)),
    ]:
        for io in ("f2", "f4"):  # the second is made of other operations by the module itself
            g = Graph(io)
            given = {n: g.give(a.astype(io) if n == "bias" else a) if isinstance(a, np.ndarray) else a for n, a in options.items()}
            o, stats = g.g.sdpa(name="sdpa", q=g.give(q.astype(io)), k=g.give(k.astype(io)), v=g.give(v.astype(io)), generate_stats=True, attn_scale=want.scale, **given)
            g.take(o, want.o.shape, io, 3e-3, want.o)
            if "lengths" not in name:
                g.take(stats, want.stats.shape, "f4", 3e-3, want.stats)
            g.run("attention, %s, %s" % (name, io))
    gradients(q, k, v, bias, causal)


def gradients(q, k, v, bias, causal):
    do = normal(2, 4, 16, 32, dtype="f2")
    for name, options, want in [("", {}, Attention(q, k, v)), (", causal", {"use_causal_mask": True}, Attention(q, k, v, masked=causal)), (", bias", {"bias": bias}, Attention(q, k, v, bias))]:
        g = Graph("f2")
        given = {n: g.give(a) if isinstance(a, np.ndarray) else a for n, a in options.items()}
        dq, dk, dv = g.g.sdpa_backward(name="back", q=g.give(q), k=g.give(k), v=g.give(v), o=g.give(want.o.astype("f2")), dO=g.give(do), stats=g.give(want.stats.astype("f4")), attn_scale=want.scale, **given)
        for t, w in zip((dq, dk, dv), want.back(do)):
            g.take(t, w.shape, "f2", 6e-3, w)
        g.run("gradients of attention" + name)


def more_graphs():
    x, scale, bias = normal(4, 8, 6, 5), normal(1, 8, 1, 1), normal(1, 8, 1, 1)
    mean, var = x.mean((0, 2, 3), keepdims=True), x.var((0, 2, 3), keepdims=True)
    old = normal(1, 8, 1, 1), abs(normal(1, 8, 1, 1))
    g = Graph()
    y, m, i, nm, nv = g.g.batchnorm(input=g.give(x), scale=g.give(scale), bias=g.give(bias), in_running_mean=g.give(old[0]), in_running_var=g.give(old[1]), epsilon=g.number(1e-3), momentum=g.number(0.1))
    g.take(y, x.shape, want=(x - mean) / np.sqrt(var + 1e-3) * scale + bias)
    g.take(m, mean.shape, want=mean)
    g.take(i, mean.shape, want=1 / np.sqrt(var + 1e-3))
    g.take(nm, mean.shape, want=0.9 * old[0] + 0.1 * mean)
    g.take(nv, mean.shape, want=0.9 * old[1] + 0.1 * var * 120 / 119)
    g.run("batch norm")
    g = Graph()
    s, q = g.g.genstats(input=g.give(x))
    g.take(s, mean.shape, want=x.astype("f8").sum((0, 2, 3), keepdims=True))
    g.take(q, mean.shape, want=(x.astype("f8") ** 2).sum((0, 2, 3), keepdims=True))
    g.run("sums and squares")
    x, dy, scale = normal(12, 32, 1, 1), normal(12, 32, 1, 1), normal(1, 32, 1, 1)
    inv = 1 / np.sqrt((x.astype("f8") ** 2).mean(1, keepdims=True) + 1e-3)
    hat = x * inv
    g = Graph()
    dx, ds, _ = g.g.rmsnorm_backward(grad=g.give(dy), input=g.give(x), scale=g.give(scale), inv_variance=g.give(inv.astype("f4")), has_dbias=False)
    d = dy * scale
    g.take(dx, x.shape, want=(d - hat * (d * hat).mean(1, keepdims=True)) * inv)
    g.take(ds, scale.shape, want=(dy * hat).sum(0, keepdims=True))
    g.run("gradients of RMS norm")


conv_graphs()
matmul_graphs()
point_graphs()
reduction_graphs()
norm_graphs()
attention_graphs()
attention_forms()
more_graphs()
print("%d wrong" % failed)
sys.exit(failed != 0)
