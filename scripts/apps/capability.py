#!/usr/bin/env python3
"""One Python client on the compute capability that Kudzu claims: each result against numpy's (PyTorch: its CPU backend's), and the
processor time of a call once everything is compiled.

  capability.py cupy|torch|warp|triton     a line an operation: NAME right|wrong|failed MILLISECONDS WHY
"""
import os
import sys
import tempfile
import time

import numpy as np

rng = np.random.default_rng(7)


def processor_time():
    """Of all threads: reading a thread's clock brings its part of the process's up to date."""
    for thread in os.listdir("/proc/self/task"):
        time.clock_gettime(~int(thread) << 3 | 6)
    return time.process_time()


def report(name, call, want, tolerance=1e-5):
    """call computes on the device and returns a numpy array."""
    try:
        got = np.asarray(call(), dtype=np.float64)
        want = np.asarray(want, dtype=np.float64)
        scale = np.abs(want).max() + 1e-30
        off = np.abs(got - want).max() / scale if got.shape == want.shape else np.inf
        best = np.inf
        for _ in range(3):
            start = processor_time()
            call()
            best = min(best, processor_time() - start)
        good = off <= tolerance
        print(f"{name} {'right' if good else 'wrong'} {1e3 * best:.2f}" + ("" if good else f" off by {off:.2g}"), flush=True)
    except Exception as e:  # a client has many ways to say that something did not work
        print(f"{name} failed - {type(e).__name__}: {' '.join(str(e).split())[:160]}", flush=True)


def cupy():
    import cupy as cp

    x = rng.standard_normal(1 << 20).astype("f4")
    a, b = (rng.standard_normal((512, 512)).astype("f4") for _ in "ab")
    k = rng.integers(0, 1 << 30, 1 << 17).astype("i4")
    dx, da, db, dk = map(cp.asarray, (x, a, b, k))
    raw = cp.RawKernel(r"""extern "C" __global__ void saxpy(const float *x, float *y, int n) {
        int i = blockIdx.x * blockDim.x + threadIdx.x; if (i < n) y[i] = 2.0f * x[i] + 1.0f; }""", "saxpy")

    def saxpy():
        y = cp.empty_like(dx)
        raw((len(x) // 256,), (256,), (dx, y, np.int32(len(x))))
        return y.get()

    report("cupy/elementwise", lambda: (cp.exp(-dx * dx) + dx).get(), np.exp(-x * x) + x)
    report("cupy/sum", lambda: dx.sum(dtype="f8").get(), x.sum(dtype="f8"), 1e-4)
    report("cupy/sort", lambda: cp.sort(dk).get(), np.sort(k), 0)
    report("cupy/cumsum", lambda: cp.cumsum(dk, dtype="i8").get(), np.cumsum(k, dtype="i8"), 0)
    report("cupy/random", lambda: np.float64(abs(float(cp.random.default_rng(3).random(1 << 16).mean()) - 0.5) < 0.01), 1, 0)
    report("cupy/matmul", lambda: (da @ db).get(), a.astype("f8") @ b)
    report("cupy/rawkernel", saxpy, 2 * x + 1)


def warp():
    import warp as wp

    wp.config.quiet = True
    wp.init()
    n = 1 << 18
    x = rng.standard_normal(n).astype("f4")
    k = rng.integers(0, 1 << 30, 1 << 16).astype("i4")

    @wp.kernel
    def wave(x: wp.array(dtype=float), y: wp.array(dtype=float)):
        i = wp.tid()
        y[i] = wp.sin(x[i]) * wp.exp(-x[i] * x[i])

    def run_wave():
        dx, dy = wp.array(x, device="cuda:0"), wp.zeros(n, dtype=float, device="cuda:0")
        wp.launch(wave, n, [dx, dy], device="cuda:0")
        return dy.numpy()

    def sort():
        keys, values = wp.array(np.concatenate([k, k]), device="cuda:0"), wp.zeros(2 * len(k), dtype=int, device="cuda:0")
        wp.utils.radix_sort_pairs(keys, values, len(k))
        return keys.numpy()[: len(k)]

    report("warp/kernel", run_wave, np.sin(x) * np.exp(-x * x))
    report("warp/sort", sort, np.sort(k), 0)
    report("warp/sum", lambda: wp.utils.array_sum(wp.array(x, device="cuda:0")), x.sum(dtype="f8"), 1e-4)


def torch():
    import torch
    import torch.nn.functional as F

    torch.backends.cudnn.enabled = False
    torch.manual_seed(3)
    x, m = torch.randn(1 << 20), torch.randn(256, 1024)
    q = torch.randn(2, 4, 128, 64)
    layer = torch.nn.TransformerEncoderLayer(128, 4, 256, dropout=0.0, batch_first=True).eval()
    seq = torch.randn(2, 64, 128)
    on = layer.__class__(128, 4, 256, dropout=0.0, batch_first=True).eval()
    on.load_state_dict(layer.state_dict())
    on = on.cuda()

    def both(name, f, *args, tolerance=1e-4):
        device = [a.cuda() for a in args]
        want = f(*args)
        report(name, lambda: f(*device).float().cpu().numpy(), want.float().numpy(), tolerance)

    with torch.no_grad():
        both("torch/gelu", F.gelu, x)
        both("torch/softmax", lambda t: t.softmax(1), m)
        both("torch/sum", lambda t: t.sum(1), m)
        both("torch/sort", lambda t: t.sort(1).values, m, tolerance=0)
        both("torch/cumsum", lambda t: t.cumsum(1), m)
        both("torch/matmul", lambda t: t @ t.T, m)
        both("torch/matmul-f16", lambda t: t.half() @ t.half().T, m, tolerance=5e-3)
        both("torch/index", lambda t: t[t[:, 0] > 0], m, tolerance=0)
        both("torch/attention", lambda t: F.scaled_dot_product_attention(t, t, t), q)
        both("torch/attention-f16", lambda t: F.scaled_dot_product_attention(t.half(), t.half(), t.half()), q, tolerance=5e-3)
        report("torch/transformer", lambda: on(seq.cuda()).cpu().numpy(), layer(seq).numpy(), 1e-4)
        both("torch/prod", lambda t: (1 + t / 1024).prod(1), m)  # through NVRTC


def triton():
    """Triton compiles for the device; its PTX goes to the driver as it is, without the vendor's assembler."""
    import cupy as cp
    import triton
    import triton.language as tl
    from triton.backends.compiler import GPUTarget
    from triton.compiler import ASTSource

    capability = int(cp.cuda.Device().compute_capability)
    stages = triton.compiler.compiler.make_backend(GPUTarget("cuda", 80, 32)).__class__
    plain = stages.add_stages
    stages.add_stages = lambda self, s, *a, **k: (plain(self, s, *a, **k), s.update(cubin=lambda src, metadata: src.encode()))[0]

    @triton.jit
    def softmax(X, Y, n: tl.constexpr):
        r = tl.program_id(0)
        i = tl.arange(0, n)
        x = tl.load(X + r * n + i)
        e = tl.exp(x - tl.max(x, 0))
        tl.store(Y + r * n + i, e / tl.sum(e, 0))

    @triton.jit
    def sorted_rows(X, Y, n: tl.constexpr):
        r = tl.program_id(0)
        i = tl.arange(0, n)
        tl.store(Y + r * n + i, tl.sort(tl.load(X + r * n + i)))

    @triton.jit
    def matmul(A, B, C, n: tl.constexpr, bm: tl.constexpr, bn: tl.constexpr, bk: tl.constexpr):
        m, c, k = tl.program_id(0) * bm + tl.arange(0, bm), tl.program_id(1) * bn + tl.arange(0, bn), tl.arange(0, bk)
        sum = tl.zeros((bm, bn), tl.float32)
        for at in range(0, n, bk):
            sum += tl.dot(tl.load(A + m[:, None] * n + at + k[None, :]), tl.load(B + (at + k)[:, None] * n + c[None, :]))
        tl.store(C + m[:, None] * n + c[None, :], sum)

    def build(f, types, constants, **options):
        src = ASTSource(f, {**types, **{c: "constexpr" for c in constants}}, constants, {(i,): [["tt.divisibility", 16]] for i in range(len(types))})
        made = triton.compile(src, target=GPUTarget("cuda", capability, 32), options=options)
        with tempfile.NamedTemporaryFile("w", suffix=".ptx") as file:
            file.write(made.asm["ptx"])
            file.flush()
            kernel = cp.RawModule(path=file.name).get_function(made.metadata.name)
        shared = made.metadata.shared
        if shared > 48 << 10:
            kernel.max_dynamic_shared_size_bytes = shared
        return lambda grid, *args: kernel(grid, (32 * made.metadata.num_warps, 1, 1), (*args, np.uint64(0), np.uint64(0)), shared_mem=shared)

    def case(name, f, types, constants, grid, inputs, out, want, tolerance, **options):
        made = []

        def call():
            if not made:
                made.append(build(f, types, constants, **options))
            y = cp.zeros(out, "f4")
            made[0](grid, *inputs, y)
            return y.get()

        report(f"triton/{name}", call, want, tolerance)

    x = rng.standard_normal((256, 1024)).astype("f4")
    dx = cp.asarray(x)
    e = np.exp(x - x.max(1, keepdims=True))
    case("softmax", softmax, {"X": "*fp32", "Y": "*fp32"}, {"n": 1024}, (256, 1, 1), [dx], x.shape, e / e.sum(1, keepdims=True), 1e-5)
    case("sort", sorted_rows, {"X": "*fp32", "Y": "*fp32"}, {"n": 256}, (64, 1, 1), [cp.ascontiguousarray(dx[:64, :256])], (64, 256), np.sort(x[:64, :256], 1), 0)
    for t, name, tile, tolerance in [("fp16", "f2", (64, 64, 32), 2e-3), ("fp16", "f2", (128, 128, 64), 2e-3), ("fp32", "f4", (64, 64, 32), 2e-3)]:
        a, b = (rng.standard_normal((512, 512)).astype(name) for _ in "ab")
        case(f"matmul-{t}-{tile[0]}", matmul, {"A": f"*{t}", "B": f"*{t}", "C": "*fp32"}, dict(n=512, bm=tile[0], bn=tile[1], bk=tile[2]),
             (512 // tile[0], 512 // tile[1], 1), [cp.asarray(a), cp.asarray(b)], (512, 512), a.astype("f8") @ b.astype("f8"), tolerance, num_warps=4)


{"cupy": cupy, "torch": torch, "warp": warp, "triton": triton}[sys.argv[1]]()
