"""Layers of networks on cuDNN beside PyTorch's CPU path (oneDNN), one thread each, in turn: dnn.py [-cpu] [-reps N] [PREFIX].

Needs torch and the Python module of cudnn-frontend (PyPI: torch, nvidia-cudnn-frontend). Run by scripts/bench.sh -dnn, which limits both
to the same instructions. Times are the least of the samples; -cpu takes processor time, for a busy machine. Prints a line a row, the
geometric mean of every group, what f16 and bf16 take of f32's time, and how long a plan takes."""
import ctypes
import math
import os
import sys
import time

import cudnn
import numpy as np
import torch
import torch.nn.functional as F

torch.set_num_threads(1)
torch.manual_seed(3)
options = sys.argv[1:]
threads = []


def processor_time():
    """Of all threads. The process's clock leaves out what threads on other processors ran since their last tick; reading theirs mends it."""
    if not threads or processor_time.calls % 64 == 0:
        threads[:] = [int(n) for n in os.listdir("/proc/self/task")]
    processor_time.calls += 1
    for thread in threads:
        try:
            time.clock_gettime(~thread << 3 | 6)
        except OSError:
            pass  # it has ended, and is counted
    return time.process_time()


processor_time.calls = 0
clock = processor_time if "-cpu" in options else time.perf_counter
reps = int(options[options.index("-reps") + 1]) if "-reps" in options else 7
only = next((o for i, o in enumerate(options) if not o.startswith("-") and options[i - 1] != "-reps"), "")
SAMPLE = 0.04  # seconds
cudart, dnn = (next(ctypes.CDLL(n) for n in names) for names in (["libcudart.so.13"], ["libcudnn.so.9"]))
handle = cudnn.create_handle()
TYPE = {torch.float32: cudnn.data_type.FLOAT, torch.float16: cudnn.data_type.HALF, torch.bfloat16: cudnn.data_type.BFLOAT16}
groups, halves, plans = {}, {}, []
try:
    from cudnn._handle import to_backend_handle as backend_handle
except ImportError:
    def backend_handle(h):
        return h


def must(status):
    if status:
        raise RuntimeError("error %d" % status)


class Memory:
    """Device memory of one row."""

    def __init__(self):
        self.all = []

    def room(self, n):
        p = ctypes.c_void_p()
        must(cudart.cudaMalloc(ctypes.byref(p), ctypes.c_size_t(max(n, 1))))
        self.all.append(p)
        return p

    def copy(self, t):
        t = t.detach().contiguous()
        p = self.room(t.nbytes)
        must(cudart.cudaMemcpy(p, ctypes.c_void_p(t.data_ptr()), ctypes.c_size_t(t.nbytes), 1))
        return p

    def free(self):
        for p in self.all:
            cudart.cudaFree(p)


def back(p, like):
    t = torch.empty_like(like, memory_format=torch.contiguous_format)
    must(cudart.cudaMemcpy(ctypes.c_void_p(t.data_ptr()), p, ctypes.c_size_t(t.nbytes), 2))
    return t


class Graph:
    """A graph of one operation: give its operands, take its results, then run."""

    def __init__(self, kind=torch.float32):
        self.g = cudnn.pygraph(handle=handle, io_data_type=TYPE[kind], intermediate_data_type=cudnn.data_type.FLOAT, compute_data_type=cudnn.data_type.FLOAT)
        self.memory, self.at, self.kept, self.first = Memory(), {}, [], None

    def give(self, t):
        x = self.g.tensor(dim=list(t.shape), stride=list(t.contiguous().stride()), data_type=TYPE[t.dtype])
        self.at[x] = self.memory.copy(t).value
        return x

    def number(self, v):
        self.kept.append(np.full((1, 1, 1, 1), v, "f4"))
        x = self.g.tensor(dim=[1, 1, 1, 1], stride=[1, 1, 1, 1], data_type=cudnn.data_type.FLOAT, is_pass_by_value=True)
        self.at[x] = self.kept[-1].ctypes.data
        return x

    def take(self, x, like):
        x.set_output(True).set_data_type(TYPE[like.dtype]).set_dim(list(like.shape)).set_stride(list(like.contiguous().stride()))
        self.at[x] = self.memory.room(like.nbytes).value
        self.first = self.first or (ctypes.c_void_p(self.at[x]), like)

    def ready(self):
        start = clock()
        self.g.build([cudnn.heur_mode.A, cudnn.heur_mode.FALLBACK])
        plans.append(clock() - start)
        self.work = self.memory.room(self.g.get_workspace_size()).value
        return self.native() or (lambda: self.g.execute(self.at, self.work, handle=handle))

    def native(self):
        """What execute calls in the end: a call of cudnn-frontend's Python has some 65 us of its own, which no library can make less."""
        g = self.g
        if not all(hasattr(g, n) for n in ("_lowered_graph", "_uid_to_data", "_native_var_pack")):
            return None
        self.g.execute(self.at, self.work, handle=handle)
        pack, work = g._native_var_pack(g._uid_to_data(self.at), self.work)
        graph, own = g._lowered_graph, backend_handle(handle)
        return lambda: graph._execute(pack, work, own, None, None, None)


def sample(run, times):
    start = clock()
    for _ in range(times):
        run()
    must(cudart.cudaDeviceSynchronize())
    return (clock() - start) / times


def least(runs):
    """The least time of each, in turn."""
    for r in runs:
        sample(r, 1)
    times = [max(1, math.ceil(SAMPLE / max(sample(r, 1), 1e-7))) for r in runs]
    best = [math.inf] * len(runs)
    for _ in range(reps):
        best = [min(b, sample(r, n)) for b, r, n in zip(best, runs, times)]
    return best


def compare(group, name, ours, theirs, result=None):
    """One row. result: where ours is, and what theirs returns is the same."""
    a, b = least([ours, theirs])
    error = ""
    if result:
        got, want = back(*result).double(), theirs().detach().double().reshape(result[1].shape)
        d = float((got - want).norm() / want.norm())
        error = "  difference %.1e%s" % (d, "" if d < 1e-2 else " WRONG")
    groups.setdefault(group, []).append(b / a)
    print("%-44s kudzu %9.1f us  torch %9.1f us  ratio %5.2f%s" % (group + " " + name, a * 1e6, b * 1e6, b / a, error), flush=True)


def wanted(name):
    return name.startswith(only)


# Channels, output channels, size, filter, stride, groups.
RESNET = [(3, 64, 224, 7, 2, 1), (64, 64, 56, 1, 1, 1), (64, 64, 56, 3, 1, 1), (64, 256, 56, 1, 1, 1), (256, 64, 56, 1, 1, 1), (256, 128, 56, 1, 1, 1),
          (128, 128, 56, 3, 2, 1), (128, 512, 28, 1, 1, 1), (256, 512, 56, 1, 2, 1), (512, 128, 28, 1, 1, 1), (128, 128, 28, 3, 1, 1), (512, 256, 28, 1, 1, 1),
          (256, 256, 28, 3, 2, 1), (256, 1024, 14, 1, 1, 1), (1024, 256, 14, 1, 1, 1), (256, 256, 14, 3, 1, 1), (1024, 512, 14, 1, 1, 1),
          (512, 512, 14, 3, 2, 1), (512, 2048, 7, 1, 1, 1), (2048, 512, 7, 1, 1, 1), (512, 512, 7, 3, 1, 1)]
# Channels, expanded, output channels, filter, stride, size of the blocks of MobileNetV3-Large.
BLOCKS = [(16, 16, 16, 3, 1, 112), (16, 64, 24, 3, 2, 112), (24, 72, 40, 5, 2, 56), (40, 120, 40, 5, 1, 28), (40, 240, 80, 3, 2, 28), (80, 200, 80, 3, 1, 14),
          (80, 480, 112, 3, 1, 14), (112, 672, 160, 5, 2, 14), (160, 960, 160, 5, 1, 7)]


def mobilenet():
    rows = [(3, 16, 224, 3, 2, 1)]
    for c, wide, k, f, s, n in BLOCKS:
        rows += [(c, wide, n, 1, 1, 1)] * (c != wide) + [(wide, wide, n, f, s, wide), (wide, k, n // s, 1, 1, 1)]
    return rows + [(672, 168, 1, 1, 1, 1), (168, 672, 1, 1, 1, 1)]


def convolution(kind, x, w, y, way, row):
    c, k, n, f, s, g = row
    how = dict(padding=[f // 2] * 2, stride=[s] * 2, dilation=[1, 1])
    graph = Graph(kind)
    give = lambda t: graph.give(t.to(kind))
    if way == "forward":
        graph.take(graph.g.conv_fprop(image=give(x), weight=give(w), **how), y.to(kind))
    elif way == "data":
        graph.take(graph.g.conv_dgrad(loss=give(y), filter=give(w), **how), x.to(kind))
    else:
        graph.take(graph.g.conv_wgrad(image=give(x), loss=give(y), **how), w.to(kind))
    return graph


def convolutions(net, rows):
    for batch in (1, 8):
        for row in rows:
            c, k, n, f, s, g = row
            x, w = torch.randn(batch, c, n, n), torch.randn(k, c // g, f, f)
            y = torch.randn_like(F.conv2d(x, w, None, s, f // 2, 1, g))
            for way in ("forward", "data", "filter"):
                group, name = "%s batch %d %s" % (net, batch, way), "%dx%d,%d,%dx%d,%d,%d" % (c, k, n, f, f, s, g)
                if not wanted(group + " " + name):
                    continue
                theirs = lambda: F.conv2d(x, w, None, s, f // 2, 1, g)
                if way != "forward":
                    mask = [way == "data", way == "filter", False]
                    theirs = lambda: next(t for t in torch.ops.aten.convolution_backward(y, x, w, None, [s, s], [f // 2] * 2, [1, 1], False, [0, 0], g, mask) if t is not None)
                graph = convolution(torch.float32, x, w, y, way, row)
                compare(group, name, graph.ready(), theirs, graph.first)
                if net == "resnet" and batch == 1:
                    others = [convolution(t, x, w, y, way, row) for t in (torch.float32, torch.float16, torch.bfloat16)]
                    full, *less = least([o.ready() for o in others])
                    for half, t in zip(("f16", "bf16"), less):
                        halves.setdefault(half + " " + way, []).append(full / t)
                    for o in others:
                        o.memory.free()
                graph.memory.free()


def attention(name, heads, shared, queries, keys, causal):
    q, k, v = (torch.randn(1, h, n, 64, requires_grad=True) for h, n in ((heads, queries), (shared, keys), (shared, keys)))
    run = lambda: F.scaled_dot_product_attention(q, k, v, is_causal=causal, enable_gqa=shared != heads)
    o = run().detach()
    stats = torch.empty(1, heads, queries, 1)
    graph = Graph()
    y, s = graph.g.sdpa(name="sdpa", q=graph.give(q), k=graph.give(k), v=graph.give(v), generate_stats=True, attn_scale=0.125, use_causal_mask=causal)
    graph.take(y, o)
    graph.take(s, stats)
    if wanted("attention forward"):
        with torch.no_grad():
            compare("attention forward", name, graph.ready(), run, graph.first)
    if queries > 1 and wanted("attention backward"):
        graph.ready()()
        must(cudart.cudaDeviceSynchronize())
        s = back(ctypes.c_void_p(graph.at[s]), stats)
        d = torch.randn_like(o)
        out, g = run(), Graph()
        three = g.g.sdpa_backward(name="back", q=g.give(q), k=g.give(k), v=g.give(v), o=g.give(o), dO=g.give(d), stats=g.give(s), attn_scale=0.125, use_causal_mask=causal)
        for x, like in zip(three, (q, k, v)):
            g.take(x, like.detach())
        compare("attention backward", name, g.ready(), lambda: torch.autograd.grad(out, (q, k, v), d, retain_graph=True)[0], g.first)
        g.memory.free()
    graph.memory.free()


def layer_norm(n, wide):
    x, scale, bias = (torch.randn(*d, requires_grad=True) for d in ((n, wide, 1, 1), (1, wide, 1, 1), (1, wide, 1, 1)))
    flat = [t.detach().reshape(d).requires_grad_() for t, d in ((x, (n, wide)), (scale, wide), (bias, wide))]
    run = lambda: F.layer_norm(flat[0], (wide,), flat[1], flat[2], 1e-5)
    stats = torch.empty(n, 1, 1, 1)
    g = Graph()
    y, m, i = g.g.layernorm(norm_forward_phase=cudnn.norm_forward_phase.TRAINING, input=g.give(x), scale=g.give(scale), bias=g.give(bias), epsilon=g.number(1e-5))
    for t, like in ((y, x.detach()), (m, stats), (i, stats)):
        g.take(t, like)
    if wanted("layer norm forward"):
        with torch.no_grad():
            compare("layer norm forward", "%dx%d" % (n, wide), g.ready(), run, g.first)
    if wanted("layer norm backward"):
        out, d = run(), torch.randn(n, wide)
        mean = flat[0].detach().mean(1).reshape(n, 1, 1, 1)
        inverse = (flat[0].detach().var(1, unbiased=False) + 1e-5).rsqrt().reshape(n, 1, 1, 1)
        b = Graph()
        dx, ds, db = b.g.layernorm_backward(grad=b.give(d.reshape(n, wide, 1, 1)), input=b.give(x), scale=b.give(scale), mean=b.give(mean), inv_variance=b.give(inverse))
        for t, like in ((dx, x), (ds, scale), (db, bias)):
            b.take(t, like.detach())
        compare("layer norm backward", "%dx%d" % (n, wide), b.ready(), lambda: torch.autograd.grad(out, flat, d, retain_graph=True)[0], b.first)
        b.memory.free()
    g.memory.free()


def made(create, *args):
    """A descriptor."""
    p = ctypes.c_void_p()
    must(create(ctypes.byref(p), *args))
    return p


def ints(*v):
    return (ctypes.c_int * len(v))(*v)


def tensor(*dim):
    t = made(dnn.cudnnCreateTensorDescriptor)
    stride = [math.prod(dim[i + 1:]) for i in range(len(dim))]
    must(dnn.cudnnSetTensorNdDescriptor(t, 0, len(dim), ints(*dim), ints(*stride)))
    return t


def softmax(own, n, wide):
    x = torch.randn(n, wide, requires_grad=True)
    run = lambda: F.softmax(x, 1)
    memory, t = Memory(), tensor(n, wide, 1, 1)
    one, zero = ctypes.byref(ctypes.c_float(1)), ctypes.byref(ctypes.c_float(0))
    p, q = memory.copy(x), memory.room(x.nbytes)
    forward = lambda: must(dnn.cudnnSoftmaxForward(own, 1, 0, one, t, p, zero, t, q))
    if wanted("softmax forward"):
        with torch.no_grad():
            compare("softmax forward", "%dx%d" % (n, wide), forward, run, (q, x.detach()))
    if wanted("softmax backward"):
        y, d = run(), torch.randn(n, wide)
        p, dy, dx = memory.copy(y), memory.copy(d), memory.room(x.nbytes)
        backward = lambda: must(dnn.cudnnSoftmaxBackward(own, 1, 0, one, t, p, t, dy, zero, t, dx))
        compare("softmax backward", "%dx%d" % (n, wide), backward, lambda: torch.autograd.grad(y, x, d, retain_graph=True)[0], (dx, x.detach()))
    memory.free()


def lstm(own, steps, batch, wide=512, layers=2):
    net, x = torch.nn.LSTM(wide, wide, layers), torch.randn(steps, batch, wide, requires_grad=True)
    memory, size = Memory(), ctypes.c_size_t
    dropout, rnn = made(dnn.cudnnCreateDropoutDescriptor), made(dnn.cudnnCreateRNNDescriptor)
    must(dnn.cudnnSetDropoutDescriptor(dropout, own, ctypes.c_float(0), None, size(0), ctypes.c_ulonglong(0)))
    must(dnn.cudnnSetRNNDescriptor_v8(rnn, 0, 2, 2, 0, 0, 0, 0, 0, wide, wide, wide, layers, dropout, 0))
    data = made(dnn.cudnnCreateRNNDataDescriptor)
    must(dnn.cudnnSetRNNDataDescriptor(data, 0, 0, steps, batch, wide, ints(*[steps] * batch), None))
    state, lengths = tensor(layers, batch, wide), memory.copy(torch.full((batch,), steps, dtype=torch.int32))
    weights, work, reserve = size(), size(), size()
    must(dnn.cudnnGetRNNWeightSpaceSize(own, rnn, ctypes.byref(weights)))
    must(dnn.cudnnGetRNNTempSpaceSizes(own, rnn, 1, data, ctypes.byref(work), ctypes.byref(reserve)))
    w, t, r = (memory.room(n.value) for n in (weights, work, reserve))
    names = ["ih", "hh"]
    for layer in range(layers):  # cuDNN's order of gates is torch's
        for i in range(8):
            m, b, at, bias = made(dnn.cudnnCreateTensorDescriptor), made(dnn.cudnnCreateTensorDescriptor), ctypes.c_void_p(), ctypes.c_void_p()
            must(dnn.cudnnGetRNNWeightParams(own, rnn, layer, weights, w, i, m, ctypes.byref(at), b, ctypes.byref(bias)))
            for kind, p in (("weight", at), ("bias", bias)):
                part = getattr(net, "%s_%s_l%d" % (kind, names[i // 4], layer)).detach()[i % 4 * wide:(i % 4 + 1) * wide].contiguous()
                must(cudart.cudaMemcpy(p, ctypes.c_void_p(part.data_ptr()), size(part.nbytes), 1))
    y, d = net(x)[0], torch.randn(steps, batch, wide)
    xs, ys, dy, dx, dw = memory.copy(x), memory.room(y.nbytes), memory.copy(d), memory.room(x.nbytes), memory.room(weights.value)

    def forward(mode):
        must(dnn.cudnnRNNForward(own, rnn, mode, lengths, data, xs, data, ys, state, None, None, state, None, None, weights, w, work, t, reserve if mode else size(0), r if mode else None))

    def train():
        forward(1)
        must(dnn.cudnnRNNBackwardData_v8(own, rnn, lengths, data, ys, dy, data, dx, state, None, None, None, state, None, None, None, weights, w, work, t, reserve, r))
        must(cudart.cudaMemset(dw, 0, weights))
        must(dnn.cudnnRNNBackwardWeights_v8(own, rnn, 0, lengths, data, xs, state, None, data, ys, weights, dw, work, t, reserve, r))

    name = "%d steps, batch %d" % (steps, batch)
    if wanted("lstm forward"):
        with torch.no_grad():
            compare("lstm forward", name, lambda: forward(0), lambda: net(x)[0], (ys, y.detach()))
    if wanted("lstm training"):
        compare("lstm training", name, train, lambda: torch.autograd.grad(net(x)[0], [x, *net.parameters()], d)[0], (dx, x.detach()))
    memory.free()


def mean(ratios):
    return "%.2f (least %.2f, %d rows)" % (math.exp(sum(map(math.log, ratios)) / len(ratios)), min(ratios), len(ratios))


convolutions("resnet", RESNET)
convolutions("mobilenet", mobilenet())
attention("bert 12x384x64", 12, 12, 384, 384, False)
attention("decoder 32/8x512x64", 32, 8, 512, 512, True)
attention("decoder 32/8x1x64 of 2048", 32, 8, 1, 2048, False)
for rows, columns in ((384, 768), (512, 2048)):
    layer_norm(rows, columns)
mine = made(dnn.cudnnCreate)
for rows, columns in ((12 * 384, 384), (64, 32000)):
    softmax(mine, rows, columns)
for size in (1, 8):
    lstm(mine, 64, size)
for group, ratios in groups.items():
    print("%-28s %s of torch" % (group, mean(ratios)))
if groups:
    print("%-28s %s of torch" % ("all", mean(sum(groups.values(), []))))
for group, ratios in halves.items():
    print("%-28s %s of f32" % (group, mean(ratios)))
if plans:
    print("plans: median %.2f ms, of the second half %.2f ms" % tuple(1e3 * float(np.median(p)) for p in (plans, plans[len(plans) // 2:])))
