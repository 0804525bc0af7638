"""Triton's kernels on Kudzu, against PyTorch on the CPU. PyTorch's own kernels are machine code: tensors are only copied."""

import numpy as np
import torch
import triton
import triton.language as tl
from triton.language.extra import libdevice

from rows import Client

client = Client("Triton", triton.__version__)
torch.manual_seed(3)
torch.set_num_threads(1)


def dev(*tensors):
    """Copies on the device. What a kernel leaves undefined is zero."""
    made = [t.to("cuda") for t in tensors]
    return made[0] if len(made) == 1 else made


@triton.jit
def add(x, y, o, n, B: tl.constexpr):
    i = tl.program_id(0) * B + tl.arange(0, B)
    tl.store(o + i, tl.load(x + i, mask=i < n) + tl.load(y + i, mask=i < n), mask=i < n)


def vector_add(dtype):
    n = 100003
    x, y = torch.randn(n).to(dtype), torch.randn(n).to(dtype)

    def run():
        dx, dy, o = dev(x, y, torch.zeros(n, dtype=dtype))
        add[(triton.cdiv(n, 1024),)](dx, dy, o, n, B=1024)
        return o.cpu()

    return run, lambda: x + y


@triton.jit
def softmax_rows(x, o, n, B: tl.constexpr):
    r, i = tl.program_id(0), tl.arange(0, B)
    v = tl.load(x + r * n + i, mask=i < n, other=-float("inf"))
    e = tl.exp(v - tl.max(v, 0))
    tl.store(o + r * n + i, e / tl.sum(e, 0), mask=i < n)


def softmax():
    x = torch.randn(256, 781)

    def run():
        dx, o = dev(x, torch.zeros_like(x))
        softmax_rows[(256,)](dx, o, 781, B=1024)
        return o.cpu()

    return run, lambda: torch.softmax(x, 1)


@triton.jit
def product(a, b, c, M, N, K, BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr):
    m, n, k = tl.program_id(0) * BM + tl.arange(0, BM), tl.program_id(1) * BN + tl.arange(0, BN), tl.arange(0, BK)
    acc = tl.zeros((BM, BN), dtype=tl.float32)
    for at in range(0, K, BK):
        acc = tl.dot(tl.load(a + m[:, None] * K + (k + at)[None, :]), tl.load(b + (k + at)[:, None] * N + n[None, :]), acc)
    tl.store(c + m[:, None] * N + n[None, :], acc)


def matmul(dtype, tile, warps=4):
    m, n, k = 256, 256, 192
    a, b = torch.randn(m, k).to(dtype), torch.randn(k, n).to(dtype)

    def run():
        da, db, c = dev(a, b, torch.zeros(m, n))
        product[(m // tile[0], n // tile[1])](da, db, c, m, n, k, BM=tile[0], BN=tile[1], BK=tile[2], num_warps=warps)
        return c.cpu()

    return run, lambda: a.float() @ b.float()


@triton.jit
def product_int(a, b, c, N, K, BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr):
    m, n, k = tl.program_id(0) * BM + tl.arange(0, BM), tl.program_id(1) * BN + tl.arange(0, BN), tl.arange(0, BK)
    acc = tl.zeros((BM, BN), dtype=tl.int32)
    for at in range(0, K, BK):
        acc = tl.dot(tl.load(a + m[:, None] * K + (k + at)[None, :]), tl.load(b + (k + at)[:, None] * N + n[None, :]), acc, out_dtype=tl.int32)
    tl.store(c + m[:, None] * N + n[None, :], acc)


def matmul_int():
    a, b = (torch.randint(-128, 128, (128, 128), dtype=torch.int8) for _ in "ab")

    def run():
        da, db, c = dev(a, b, torch.zeros(128, 128, dtype=torch.int32))
        product_int[(2, 2)](da, db, c, 128, 128, BM=64, BN=64, BK=64)
        return c.cpu()

    return run, lambda: a.int() @ b.int()


@triton.jit
def product_tma(a, b, c, M, N, K, BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr):
    da = tl.make_tensor_descriptor(a, [M, K], [K, 1], [BM, BK])
    db = tl.make_tensor_descriptor(b, [K, N], [N, 1], [BK, BN])
    dc = tl.make_tensor_descriptor(c, [M, N], [N, 1], [BM, BN])
    m, n = tl.program_id(0) * BM, tl.program_id(1) * BN
    acc = tl.zeros((BM, BN), dtype=tl.float32)
    for at in range(0, K, BK):
        acc = tl.dot(da.load([m, at]), db.load([at, n]), acc)
    dc.store([m, n], acc)


def matmul_tma():
    m, n, k = 256, 256, 192
    a, b = torch.randn(m, k).half(), torch.randn(k, n).half()
    triton.set_allocator(lambda size, align, stream: torch.empty(size, dtype=torch.int8, device="cuda"))

    def run():
        da, db, c = dev(a, b, torch.zeros(m, n))
        product_tma[(2, 4)](da, db, c, m, n, k, BM=128, BN=64, BK=64)
        return c.cpu()

    return run, lambda: a.float() @ b.float()


@triton.jit
def norm(x, w, b, y, mean, rstd, n, B: tl.constexpr):
    r, i = tl.program_id(0), tl.arange(0, B)
    v = tl.load(x + r * n + i, mask=i < n, other=0.0)
    mu = tl.sum(v, 0) / n
    d = tl.where(i < n, v - mu, 0.0)
    rs = 1 / tl.sqrt(tl.sum(d * d, 0) / n + 1e-5)
    tl.store(mean + r, mu)
    tl.store(rstd + r, rs)
    tl.store(y + r * n + i, d * rs * tl.load(w + i, mask=i < n) + tl.load(b + i, mask=i < n), mask=i < n)


@triton.jit
def norm_back(x, w, dy, mean, rstd, dx, dw, db, n, B: tl.constexpr):
    r, i = tl.program_id(0), tl.arange(0, B)
    m = i < n
    rs = tl.load(rstd + r)
    xh = tl.where(m, (tl.load(x + r * n + i, mask=m, other=0.0) - tl.load(mean + r)) * rs, 0.0)
    g = tl.load(dy + r * n + i, mask=m, other=0.0)
    wg = g * tl.load(w + i, mask=m, other=0.0)
    c1, c2 = tl.sum(xh * wg, 0) / n, tl.sum(wg, 0) / n
    tl.store(dx + r * n + i, (wg - (xh * c1 + c2)) * rs, mask=m)
    tl.atomic_add(dw + i, g * xh, mask=m)
    tl.atomic_add(db + i, g, mask=m)


def layer_norm(back):
    rows, n = 128, 1000
    x, w, b, dy = torch.randn(rows, n), torch.randn(n), torch.randn(n), torch.randn(rows, n)

    def run():
        dx, dw, db, y, mean, rstd = dev(x, w, b, torch.zeros(rows, n), torch.zeros(rows), torch.zeros(rows))
        norm[(rows,)](dx, dw, db, y, mean, rstd, n, B=1024)
        if not back:
            return y.cpu()
        g, gx, gw, gb = dev(dy, torch.zeros(rows, n), torch.zeros(n), torch.zeros(n))
        norm_back[(rows,)](dx, dw, g, mean, rstd, gx, gw, gb, n, B=1024)
        return gx.cpu(), gw.cpu(), gb.cpu()

    def want():
        leaves = [t.clone().requires_grad_() for t in (x, w, b)]
        y = torch.nn.functional.layer_norm(leaves[0], (n,), leaves[1], leaves[2])
        if not back:
            return y
        y.backward(dy)
        return tuple(t.grad for t in leaves)

    return run, want


@triton.jit
def attend(q, k, v, o, lse, scale, T, D: tl.constexpr, BM: tl.constexpr, BN: tl.constexpr, CAUSAL: tl.constexpr):
    start, head = tl.program_id(0), tl.program_id(1)
    m, d = start * BM + tl.arange(0, BM), tl.arange(0, D)
    base = head * T * D
    qs = tl.load(q + base + m[:, None] * D + d[None, :])
    top = tl.full((BM,), -float("inf"), tl.float32)
    total = tl.zeros((BM,), tl.float32)
    acc = tl.zeros((BM, D), tl.float32)
    end = (start + 1) * BM if CAUSAL else T
    for at in range(0, end, BN):
        n = at + tl.arange(0, BN)
        s = tl.dot(qs, tl.load(k + base + n[None, :] * D + d[:, None])) * scale
        if CAUSAL:
            s = tl.where(m[:, None] >= n[None, :], s, -float("inf"))
        new = tl.maximum(top, tl.max(s, 1))
        p = tl.exp(s - new[:, None])
        fade = tl.exp(top - new)
        total = total * fade + tl.sum(p, 1)
        acc = tl.dot(p.to(qs.dtype), tl.load(v + base + n[:, None] * D + d[None, :]), acc * fade[:, None])
        top = new
    tl.store(o + base + m[:, None] * D + d[None, :], (acc / total[:, None]).to(qs.dtype))
    tl.store(lse + head * T + m, top + tl.log(total))


@triton.jit
def attend_back(q, k, v, dq, dk, dv, do, lse, delta, scale, T, D: tl.constexpr, BM: tl.constexpr, BN: tl.constexpr, CAUSAL: tl.constexpr):
    start, head = tl.program_id(0), tl.program_id(1)
    n, d = start * BN + tl.arange(0, BN), tl.arange(0, D)
    base = head * T * D
    ks, vs = tl.load(k + base + n[:, None] * D + d[None, :]), tl.load(v + base + n[:, None] * D + d[None, :])
    gk, gv = tl.zeros((BN, D), tl.float32), tl.zeros((BN, D), tl.float32)
    begin = start * BN // BM * BM if CAUSAL else 0
    for at in range(begin, T, BM):
        m = at + tl.arange(0, BM)
        qs, g = tl.load(q + base + m[:, None] * D + d[None, :]), tl.load(do + base + m[:, None] * D + d[None, :])
        p = tl.exp(tl.dot(qs, tl.trans(ks)) * scale - tl.load(lse + head * T + m)[:, None])
        if CAUSAL:
            p = tl.where(m[:, None] >= n[None, :], p, 0.0)
        gv = tl.dot(tl.trans(p.to(qs.dtype)), g, gv)
        ds = (p * (tl.dot(g, tl.trans(vs)) - tl.load(delta + head * T + m)[:, None]) * scale).to(qs.dtype)
        gk = tl.dot(tl.trans(ds), qs, gk)
        tl.atomic_add(dq + base + m[:, None] * D + d[None, :], tl.dot(ds, ks))
    tl.store(dk + base + n[:, None] * D + d[None, :], gk)
    tl.store(dv + base + n[:, None] * D + d[None, :], gv)


def attention(dtype, causal, back):
    heads, t, d, scale = 4, 256, 64, 0.125
    q, k, v, do = (torch.randn(heads, t, d).to(dtype) for _ in range(4))

    def run():
        dq, dk, dv, o, lse = dev(q, k, v, torch.zeros_like(q), torch.zeros(heads, t))
        attend[(t // 64, heads)](dq, dk, dv, o, lse, scale, t, D=d, BM=64, BN=32, CAUSAL=causal)
        if not back:
            return o.cpu()
        delta = (o.cpu().float() * do.float()).sum(2)
        g, gq, gk, gv, delta = dev(do, *(torch.zeros(heads, t, d) for _ in range(3)), delta)
        attend_back[(t // 64, heads)](dq, dk, dv, gq, gk, gv, g, lse, delta, scale, t, D=d, BM=32, BN=64, CAUSAL=causal)
        return gq.cpu(), gk.cpu(), gv.cpu()

    def want():
        leaves = [x.float().requires_grad_() for x in (q, k, v)]
        o = torch.nn.functional.scaled_dot_product_attention(*leaves, is_causal=causal, scale=scale)
        if not back:
            return o
        o.backward(do.float())
        return tuple(x.grad for x in leaves)

    return run, want


@triton.jit
def sort_rows(x, o, B: tl.constexpr, DOWN: tl.constexpr):
    i = tl.program_id(0) * B + tl.arange(0, B)
    tl.store(o + i, tl.sort(tl.load(x + i), descending=DOWN))


def sort(make, down=False):
    x = make((16, 512))

    def run():
        dx, o = dev(x, torch.zeros_like(x))
        sort_rows[(16,)](dx, o, B=512, DOWN=down)
        return o.cpu()

    return run, lambda: torch.sort(x, 1, descending=down).values


@triton.jit
def combine(a, b, c, d):
    return a * c, b * c + d


@triton.jit
def scan_rows(x, y, sums, hs, B: tl.constexpr):
    i = tl.program_id(0) * B + tl.arange(0, B)
    v, g = tl.load(x + i), tl.load(y + i)
    tl.store(sums + i, tl.cumsum(v, 0))
    _, h = tl.associative_scan((g, v), 0, combine)
    tl.store(hs + i, h)


def scan():
    x, g = torch.randn(16, 1024), torch.rand(16, 1024)

    def run():
        dx, dg, s, h = dev(x, g, torch.zeros_like(x), torch.zeros_like(x))
        scan_rows[(16,)](dx, dg, s, h, B=1024)
        return s.cpu(), h.cpu()

    def want():
        h, hs = torch.zeros(16), []
        for t in range(1024):
            h = g[:, t] * h + x[:, t]
            hs.append(h)
        return torch.cumsum(x, 1), torch.stack(hs, 1)

    return run, want


@triton.jit
def reduce_rows(x, o, w, n, B: tl.constexpr):
    r, i = tl.program_id(0), tl.arange(0, B)
    v = tl.load(x + r * n + i, mask=i < n, other=-float("inf"))
    tl.store(w + r, tl.argmax(v, 0))
    tl.store(o + 3 * r, tl.max(v, 0))
    tl.store(o + 3 * r + 1, tl.sum(tl.where(i < n, v, 0), 0))
    tl.store(o + 3 * r + 2, tl.min(tl.where(i < n, v, float("inf")), 0))


def reductions():
    x = torch.randn(100, 3000)

    def run():
        dx, o, w = dev(x, torch.zeros(100, 3), torch.zeros(100, dtype=torch.int32))
        reduce_rows[(100,)](dx, o, w, 3000, B=4096)
        return o.cpu(), w.cpu()

    return run, lambda: (torch.stack([x.max(1).values, x.sum(1), x.min(1).values], 1), x.argmax(1).int())


@triton.jit
def count(x, f, bins, sums, tops, n, B: tl.constexpr):
    i = tl.program_id(0) * B + tl.arange(0, B)
    at, v = tl.load(x + i, mask=i < n, other=0), tl.load(f + i, mask=i < n, other=0.0)
    tl.atomic_add(bins + at, 1, mask=i < n)
    tl.atomic_add(sums + at, v, mask=i < n)
    tl.atomic_max(tops + at, v, mask=i < n)


@triton.jit
def locked(lock, total, B: tl.constexpr):
    while tl.atomic_cas(lock, 0, 1) == 1:
        pass
    tl.store(total, tl.load(total) + tl.program_id(0))
    tl.debug_barrier()
    tl.atomic_xchg(lock, 0)


def atomics():
    x, f = torch.randint(0, 64, (50000,), dtype=torch.int32), torch.rand(50000)

    def run():
        dx, df, bins, sums, tops = dev(x, f, torch.zeros(64, dtype=torch.int32), torch.zeros(64), torch.zeros(64))
        count[(49,)](dx, df, bins, sums, tops, 50000, B=1024)
        lock, total = dev(torch.zeros(1, dtype=torch.int32), torch.zeros(1, dtype=torch.int32))
        locked[(100,)](lock, total, B=32)
        return bins.cpu(), sums.cpu(), tops.cpu(), total.cpu()

    def want():
        at = x.long()
        z = torch.zeros(64)
        return torch.bincount(at, minlength=64).int(), z.index_add(0, at, f), z.index_reduce(0, at, f, "amax"), torch.tensor([4950])

    return run, want


@triton.jit
def draws(o, ints, seed, B: tl.constexpr):
    i = tl.program_id(0) * B + tl.arange(0, B)
    tl.store(o + 2 * i, tl.rand(seed, i))
    tl.store(o + 2 * i + 1, tl.randn(seed, i))
    tl.store(ints + i, tl.randint(seed, i))


def philox(seed, at):
    """Philox 4x32-10 of the offsets: the first two words."""
    c, k = [at.astype("u8"), *(np.zeros(at.shape, "u8") for _ in range(3))], [seed, 0]
    for _ in range(10):
        p, q = c[0] * np.uint64(0xD2511F53), c[2] * np.uint64(0xCD9E8D57)
        high, low = lambda x: x >> np.uint64(32), lambda x: x & np.uint64(0xFFFFFFFF)
        c = [high(q) ^ c[1] ^ np.uint64(k[0]), low(q), high(p) ^ c[3] ^ np.uint64(k[1]), low(p)]
        k = [(k[0] + 0x9E3779B9) & 0xFFFFFFFF, (k[1] + 0xBB67AE85) & 0xFFFFFFFF]
    return c[0].astype("u4").view("i4"), c[1].astype("u4").view("i4")


def random():
    def run():
        o, ints = dev(torch.zeros(4096, 2), torch.zeros(4096, dtype=torch.int32))
        draws[(4,)](o, ints, 42, B=1024)
        return o.cpu(), ints.cpu()

    def want():
        a, b = philox(42, np.arange(4096))
        u, v = (np.where(x < 0, -x.astype("i8") - 1, x) * 4.6566127342e-10 for x in (a, b))
        return np.stack([u, np.sqrt(-2 * np.log(np.maximum(u, 1e-7))) * np.cos(2 * np.pi * v)], 1), a

    return run, want


@triton.jit
def product_scaled(a, sa, b, sb, c, N, K: tl.constexpr, KIND: tl.constexpr, PACK: tl.constexpr, BM: tl.constexpr, BN: tl.constexpr):
    m, n = tl.program_id(0) * BM + tl.arange(0, BM), tl.program_id(1) * BN + tl.arange(0, BN)
    k, s = tl.arange(0, K // PACK), tl.arange(0, K // 32)
    x, y = tl.load(a + m[:, None] * (K // PACK) + k[None, :]), tl.load(b + n[None, :] * (K // PACK) + k[:, None])
    sx, sy = tl.load(sa + m[:, None] * (K // 32) + s[None, :]), tl.load(sb + n[:, None] * (K // 32) + s[None, :])
    tl.store(c + m[:, None] * N + n[None, :], tl.dot_scaled(x, sx, KIND, y, sy, KIND))


def matmul_scaled(kind):
    """Operands in blocks of 32 with a scale each, a power of two."""
    m, n, k = 128, 128, 128
    if kind == "e2m1":
        values = torch.tensor([0, 0.5, 1, 1.5, 2, 3, 4, 6])
        codes = [torch.randint(0, 16, (r, k)) for r in (m, n)]
        a, b = ((c[:, ::2] | c[:, 1::2] << 4).to(torch.uint8) for c in codes)
        fa, fb = (values[c & 7] * (1 - 2 * (c >> 3)) for c in codes)
    else:
        a, b = (torch.randn(r, k).to(torch.float8_e4m3fn) for r in (m, n))
        fa, fb = a.float(), b.float()
    sa, sb = (torch.randint(124, 131, (r, k // 32), dtype=torch.uint8) for r in (m, n))

    def run():
        args = dev(a, sa, b, sb, torch.zeros(m, n))
        product_scaled[(2, 2)](*args, n, K=k, KIND=kind, PACK=2 if kind == "e2m1" else 1, BM=64, BN=64)
        return args[-1].cpu()

    def want():
        x, y = (f * torch.exp2(s.float() - 127).repeat_interleave(32, 1) for f, s in ((fa, sa), (fb, sb)))
        return x @ y.T

    return run, want


@triton.jit
def product_persistent(a, b, c, M, N, K, BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr, PROGRAMS: tl.constexpr, SPLIT: tl.constexpr):
    da = tl.make_tensor_descriptor(a, [M, K], [K, 1], [BM, BK])
    db = tl.make_tensor_descriptor(b, [N, K], [K, 1], [BN, BK])
    dc = tl.make_tensor_descriptor(c, [M, N], [N, 1], [BM, BN])
    wide = tl.cdiv(N, BN)
    for tile in tl.range(tl.program_id(0), tl.cdiv(M, BM) * wide, PROGRAMS, flatten=True, warp_specialize=SPLIT):
        m, n = tile // wide * BM, tile % wide * BN
        acc = tl.zeros((BM, BN), dtype=tl.float32)
        for at in range(0, K, BK):
            acc = tl.dot(da.load([m, at]), db.load([n, at]).T, acc)
        dc.store([m, n], acc.to(tl.float16))


def matmul_persistent(split):
    m, n, k = 300, 200, 256  # not whole tiles: the descriptors cut them
    a, b = torch.randn(m, k).half(), torch.randn(n, k).half()
    triton.set_allocator(lambda size, align, stream: torch.empty(size, dtype=torch.int8, device="cuda"))

    def run():
        da, db, c = dev(a, b, torch.zeros(m, n, dtype=torch.float16))
        product_persistent[(4,)](da, db, c, m, n, k, BM=128, BN=64, BK=64, PROGRAMS=4, SPLIT=split, num_stages=3)
        return c.cpu()

    return run, lambda: a.float() @ b.float().T


@triton.jit
def mixed(x, at, o, counts, B: tl.constexpr):
    i = tl.arange(0, B)
    v, w = tl.load(x + i), tl.load(at + i)
    g = tl.gather(v, w, 0)
    e = libdevice.erf(g) + libdevice.log1p(tl.abs(g)) + libdevice.pow(tl.abs(g), 1.5) + libdevice.atan2(v, g)
    e += tl.inline_asm_elementwise("max.f32 $0, $1, $2;", "=f,f,f", [v, g], dtype=tl.float32, is_pure=True, pack=1)
    tl.store(o + i, tl.flip(e))
    tl.store(counts + tl.arange(0, 64), tl.histogram(w % 64, 64))


def functions():
    x, at = torch.randn(1024), torch.randint(0, 1024, (1024,), dtype=torch.int32)

    def run():
        dx, da, o, counts = dev(x, at, torch.zeros(1024), torch.zeros(64, dtype=torch.int32))
        mixed[(1,)](dx, da, o, counts, B=1024)
        return o.cpu(), counts.cpu()

    def want():
        g = x[at.long()]
        e = torch.erf(g) + torch.log1p(g.abs()) + g.abs() ** 1.5 + torch.atan2(x, g) + torch.maximum(x, g)
        return e.flip(0), torch.bincount(at.long() % 64, minlength=64).int()

    return run, want


f8 = torch.float8_e4m3fn
cases = {
    "vector add f32": (lambda: vector_add(torch.float32), 0),
    "vector add bf16": (lambda: vector_add(torch.bfloat16), 0),
    "softmax": (softmax, 1e-6),
    "reductions": (reductions, 1e-6),
    "matmul f16 64x64x32": (lambda: matmul(torch.float16, (64, 64, 32)), 2e-6),
    "matmul f16 128x128x64, 8 warps": (lambda: matmul(torch.float16, (128, 128, 64), 8), 2e-6),
    "matmul bf16 128x64x64": (lambda: matmul(torch.bfloat16, (128, 64, 64)), 2e-6),
    "matmul tf32 64x64x32": (lambda: matmul(torch.float32, (64, 64, 32)), 2e-3),
    "matmul fp8 e4m3 64x64x64": (lambda: matmul(f8, (64, 64, 64)), 2e-3),
    "matmul fp8 e5m2 128x128x64": (lambda: matmul(torch.float8_e5m2, (128, 128, 64)), 2e-3),
    "matmul int8": (matmul_int, 0),
    "matmul f16, tensor descriptors": (matmul_tma, 2e-6),
    "matmul f16, persistent": (lambda: matmul_persistent(False), 1e-3),
    "matmul f16, warp-specialised": (lambda: matmul_persistent(True), 1e-3),
    "matmul mxfp8": (lambda: matmul_scaled("e4m3"), 1e-5),
    "matmul mxfp4": (lambda: matmul_scaled("e2m1"), 1e-5),
    "layer norm forward": (lambda: layer_norm(False), 2e-6),
    "layer norm backward": (lambda: layer_norm(True), 2e-6),
    "attention f16 forward": (lambda: attention(torch.float16, False, False), 2e-3),
    "attention bf16 forward, causal": (lambda: attention(torch.bfloat16, True, False), 1e-2),
    "attention f16 backward": (lambda: attention(torch.float16, False, True), 2e-3),
    "attention f16 backward, causal": (lambda: attention(torch.float16, True, True), 2e-3),
    "sort f32": (lambda: sort(torch.randn), 0),
    "sort i32, descending": (lambda: sort(lambda s: torch.randint(-(1 << 31), 1 << 31, s, dtype=torch.int32), True), 0),
    "scan": (scan, 2e-6),
    "atomics": (atomics, 1e-6),
    "random": (random, 1e-6),
    "gather, histogram, libdevice, inline PTX": (functions, 1e-6),
}
if torch.cuda.get_device_capability() < (8, 9):
    for name in ("matmul fp8 e4m3 64x64x64", "matmul mxfp8"):
        del cases[name]  # Triton has the type from 8.9 on
for name, (make, bound) in cases.items():
    client.case(name, *make(), bound)
