#!/usr/bin/env python3
"""PyTorch operations over many types on small tensors, so that as many different kernels as possible are launched.

  compare_torch.py [--few] [--seconds N] [--keep DIR] [GROUP...]
      groups: unary binary reduce cast index sort shape nn random foreach optim bits linalg

What the operations compute is not looked at: kudzu compare compares each launch with another executor. An operation that a type does
not have is counted and passed over. --few: f32, f16, i64 and bool only. With --keep, DIR/done has the operations that ran, which are
not run again, and DIR/operators the operators of which a launch was compared, with their type; a group that is through is in DIR/through.
After --seconds the rest is left for the next time.
"""
import argparse
import os
import sys
import time

import torch
import torch.nn.functional as F
from torch.utils._python_dispatch import TorchDispatchMode

parser = argparse.ArgumentParser()
parser.add_argument("--few", action="store_true")
parser.add_argument("--seconds", type=float, default=float("inf"))
parser.add_argument("--keep")
parser.add_argument("groups", nargs="*")
options = parser.parse_args()

torch.backends.cudnn.enabled = False
DEV = "cuda"
FLOATS = [torch.float32, torch.float64, torch.float16, torch.bfloat16]
INTS = [torch.int32, torch.int64, torch.int16, torch.int8, torch.uint8, torch.bool]
COMPLEX = [torch.complex64, torch.complex128]
TURNS = [(FLOATS, INTS, COMPLEX)]
if options.few:  # one type after the other: the first turn has most operators
    TURNS = [([torch.float32], [], []), ([], [torch.int64], []), ([torch.float16], [], []), ([], [torch.bool], [])]
gen = torch.Generator().manual_seed(7)
done = failed = left = 0
begin = time.monotonic()


def kept(name):
    """The lines of a file of --keep, and the file to add to."""
    path = os.path.join(options.keep, name) if options.keep else os.devnull
    with open(path, "a+") as f:
        f.seek(0)
        lines = set(f.read().splitlines())
    return lines, open(path, "a", buffering=1)


ran, ran_file = kept("done")
operators, operators_file = kept("operators")
through, through_file = kept("through")
report = os.environ.get("KUDZU_COMPARE_REPORT")


def compared():
    """How long the report of kudzu compare is: it grows with each launch that was compared."""
    return os.path.getsize(report) if report else 0


class Operators(TorchDispatchMode):
    """Notes the operators that PyTorch calls, those of which a launch was compared. add_ is add."""

    def __torch_dispatch__(self, func, types, args=(), kwargs=None):
        before = compared()
        result = func(*args, **(kwargs or {}))
        if compared() > before:
            tensors = [t for t in torch.utils._pytree.tree_leaves((args, kwargs, result)) if isinstance(t, torch.Tensor)]
            name = func._schema.name.removeprefix("aten::")
            line = f"{name.rstrip('_') if not name.endswith('__') else name} {tensors[0].dtype if tensors else '-'}"
            if line not in operators:
                operators.add(line)
                print(line, file=operators_file)
        return result


def make(dtype, *shape, low=-3.0, high=3.0):
    if dtype == torch.bool:
        t = torch.rand(shape, generator=gen) < 0.5
    elif dtype.is_complex:
        t = torch.complex(*(torch.rand(shape, generator=gen) * (high - low) + low for _ in "ab")).to(dtype)
    elif dtype.is_floating_point:
        t = (torch.rand(shape, generator=gen, dtype=torch.float64) * (high - low) + low).to(dtype)
    else:
        t = torch.randint(0 if dtype == torch.uint8 else -50, 100, shape, generator=gen).to(dtype)
    return t.to(DEV)


def attempt(name, f, *args, **kwargs):
    global done, failed, left
    if name in ran:
        done += 1
        return
    if time.monotonic() - begin > options.seconds:
        left += 1
        return
    try:
        with Operators():
            f(*args, **kwargs)
        torch.cuda.synchronize()
        done += 1
    except (RuntimeError, TypeError, NotImplementedError, IndexError, ValueError) as e:
        failed += 1
        text = str(e).split("\n")[0]
        if "CUDA error" in text:
            print(f"{name}: {text}", flush=True)
            sys.exit(1)
        if "not implemented for" not in text and "not supported" not in text:
            print(f"{name}: {text}", flush=True)
    print(name, file=ran_file)


UNARY = """abs neg sign sgn sqrt rsqrt reciprocal exp exp2 expm1 log log2 log10 log1p sin cos tan asin acos atan sinh cosh tanh
asinh acosh atanh erf erfc erfinv sigmoid logit lgamma digamma ceil floor round trunc frac square isnan isinf isfinite isposinf isneginf
signbit bitwise_not logical_not nan_to_num i0 sinc deg2rad rad2deg angle real conj_physical positive""".split()
SPECIAL = "entr i0e i1 i1e ndtri log_ndtr erfcx bessel_j0 bessel_j1 bessel_y0 bessel_y1 modified_bessel_i0 modified_bessel_k0".split()
FUNCTIONAL = """relu gelu silu mish elu selu celu leaky_relu softplus softsign hardtanh hardswish hardsigmoid logsigmoid tanhshrink softshrink
hardshrink relu6 threshold""".split()


def unary():
    for dtype in FLOATS + INTS + COMPLEX:
        x = make(dtype, 1000)
        for op in UNARY:
            attempt(f"{op} {dtype}", getattr(torch, op), x)
        if dtype.is_floating_point:
            for op in SPECIAL:
                attempt(f"{op} {dtype}", getattr(torch.special, op), x)
            for op in FUNCTIONAL:
                g = x.clone().requires_grad_()
                args = (0.1, 0.2) if op == "threshold" else ()
                attempt(f"{op} {dtype}", lambda: getattr(F, op)(g, *args).sum().backward())
            attempt(f"polygamma {dtype}", torch.polygamma, 2, x)
            attempt(f"mvlgamma {dtype}", torch.mvlgamma, x.abs() + 3, 2)
        s = make(dtype, 40, 50).t()[1:, 3:]
        for op in "neg abs exp sqrt sin logical_not".split():
            attempt(f"{op} strided {dtype}", getattr(torch, op), s)
        attempt(f"clamp {dtype}", lambda: x.clamp(0, 1))
        attempt(f"clamp tensors {dtype}", lambda: torch.clamp(x, x - x, x * 0 + 1))
        attempt(f"pow {dtype}", lambda: (x.pow(2), x.pow(3), x.pow(0.5), x.pow(-1), x.pow(2.5)))
        attempt(f"fill {dtype}", lambda: (x.clone().fill_(1), x.clone().zero_()))


BINARY = """add sub mul div fmod remainder maximum minimum fmax fmin pow atan2 hypot copysign nextafter eq ne lt le gt ge logical_and
logical_or logical_xor bitwise_and bitwise_or bitwise_xor bitwise_left_shift bitwise_right_shift floor_divide logaddexp logaddexp2 gcd lcm
xlogy heaviside ldexp float_power true_divide""".split()


def binary():
    for dtype in FLOATS + INTS + COMPLEX:
        a, b = make(dtype, 1000), make(dtype, 1000)
        if dtype in INTS and dtype != torch.bool:
            b = b.abs() % 7 + 1
        s, u = make(dtype, 30, 40).t(), make(dtype, 1, 30)
        for op in BINARY:
            attempt(f"{op} {dtype}", getattr(torch, op), a, b)
            attempt(f"{op} scalar {dtype}", getattr(torch, op), a, 3)
        for op in "add mul div maximum eq lt pow bitwise_and".split():
            attempt(f"{op} strided {dtype}", getattr(torch, op), s, u)
        attempt(f"rounded {dtype}", lambda: (torch.div(a, b, rounding_mode="floor"), torch.div(a, b, rounding_mode="trunc")))
        attempt(f"where {dtype}", lambda: torch.where(a == b, a, b))
        attempt(f"lerp {dtype}", lambda: (torch.lerp(a, b, 0.25), torch.lerp(a, b, a)))
        attempt(f"addcmul {dtype}", lambda: (torch.addcmul(a, a, b), torch.addcdiv(a, a, b, value=0.5)))
        attempt(f"isclose {dtype}", lambda: torch.isclose(a, b))
        attempt(f"polynomials {dtype}", lambda: (torch.special.zeta(a.abs() + 1, b.abs() + 1), torch.special.xlog1py(a, b)))
    for x, y in [(torch.float32, torch.float64), (torch.float16, torch.float32), (torch.int32, torch.float32), (torch.bool, torch.int64)]:
        attempt(f"add {x} {y}", torch.add, make(x, 500), make(y, 500))


def ranks(dtype, rows, columns):
    """Integers that differ within rows and columns of at most 113: of equal ones the kernels of median and kthvalue name any."""
    return ((torch.arange(rows).view(-1, 1) * 7 + torch.arange(columns) * 11) % 113).to("cuda", dtype)


REDUCE = "sum prod mean std var amax amin argmax argmin all any logsumexp norm nansum nanmean median mode count_nonzero".split()


def reduce():
    for dtype in FLOATS + INTS + COMPLEX:
        x = make(dtype, 60, 70)
        for op in REDUCE:
            f, of = getattr(torch, op), x
            if op == "median" and dtype in INTS:
                of = ranks(dtype, 60, 70)
            attempt(f"{op} {dtype}", f, of)
            attempt(f"{op} dim 0 {dtype}", f, of, dim=0)
            attempt(f"{op} dim 1 {dtype}", f, of, dim=1)
        attempt(f"aminmax {dtype}", lambda: (torch.aminmax(x), torch.aminmax(x, dim=1)))
        attempt(f"max dim {dtype}", lambda: (x.max(dim=0), x.min(dim=1), x.max(), x.min()))
        for op in "cumsum cumprod cummax cummin logcumsumexp".split():
            attempt(f"{op} {dtype}", getattr(torch, op), x, 1)
            attempt(f"{op} dim 0 {dtype}", getattr(torch, op), x, 0)
            attempt(f"{op} flat {dtype}", getattr(torch, op), x.flatten(), 0)
        for p in (0, 1, 2, 3, float("inf"), -float("inf")):
            attempt(f"norm {p} {dtype}", lambda: torch.linalg.vector_norm(x, p, dim=1))
        attempt(f"var_mean {dtype}", lambda: (torch.var_mean(x, dim=1), torch.std_mean(x)))
        attempt(f"dist {dtype}", lambda: (torch.dist(x, x + 1), torch.cdist(x, x), torch.pdist(x)))
        attempt(f"quantile {dtype}", lambda: (torch.quantile(x, 0.3), torch.nanmedian(x, dim=1)))
        attempt(f"histc {dtype}", lambda: torch.histc(x, 20))
        attempt(f"bincount {dtype}", lambda: torch.bincount(x.flatten().abs()))
        attempt(f"trace {dtype}", lambda: (torch.trace(x), torch.renorm(x, 2, 0, 1.0), torch.kthvalue(x if dtype in FLOATS else ranks(dtype, 60, 70), 5)))
        attempt(f"allclose {dtype}", lambda: (torch.equal(x, x), torch.allclose(x, x)))


def cast():
    types = FLOATS + INTS + COMPLEX + [torch.float8_e4m3fn, torch.float8_e5m2]
    for a in FLOATS + INTS + COMPLEX:
        x, s = make(a, 500), make(a, 20, 30).t()
        for b in types:
            attempt(f"{a} to {b}", lambda: (x.to(b), s.to(b)))
    for b in types[-2:]:
        y = make(torch.float32, 500).to(b)
        for a in FLOATS + INTS:
            attempt(f"{b} to {a}", lambda: y.to(a))


def index():
    for dtype in FLOATS + INTS + COMPLEX:
        x, v = make(dtype, 40, 50), make(dtype, 10, 50)
        # No place twice: which of several stores to one place is the last is open. For sums and products it may be.
        i = torch.randperm(40, generator=gen)[:10].to(DEV)
        j = torch.rand(40, 50, generator=gen).argsort(0)[:10].to(DEV)
        twice = torch.randint(0, 40, (10, 50), generator=gen).to(DEV)
        m = make(torch.bool, 40, 50)
        attempt(f"index {dtype}", lambda: (x[i], x[:, i], x[i, i], x[m]))
        attempt(f"index_put {dtype}", lambda: x.clone().index_put_((i,), v))
        attempt(f"index_put accumulate {dtype}", lambda: x.clone().index_put_((twice[:, 0],), v, accumulate=True))
        for f in ("index_add_", "index_copy_"):
            attempt(f"{f} {dtype}", lambda: getattr(x.clone(), f)(0, twice[:, 0] if f == "index_add_" else i, v))
            attempt(f"{f} dim 1 {dtype}", lambda: getattr(x.clone(), f)(1, i, v.t()[:40].contiguous()[:, :10]))
        for r in ("mean", "prod", "amax", "amin"):
            attempt(f"index_reduce {r} {dtype}", lambda: x.clone().index_reduce_(0, twice[:, 0], v, r))
        attempt(f"index_fill {dtype}", lambda: x.clone().index_fill_(0, i, 1))
        attempt(f"index_select {dtype}", lambda: (x.index_select(0, i), x.index_select(1, i), x.flatten().index_select(0, i)))
        attempt(f"gather {dtype}", lambda: (x.gather(0, j), x.t().gather(1, j.t())))
        attempt(f"scatter {dtype}", lambda: (x.clone().scatter_(0, j, v), x.clone().scatter_(0, j, 1)))
        attempt(f"scatter_add {dtype}", lambda: x.clone().scatter_add_(0, twice, v))
        for r in ("sum", "prod", "mean", "amax", "amin"):
            attempt(f"scatter_reduce {r} {dtype}", lambda: x.clone().scatter_reduce_(0, twice, v, r))
        attempt(f"take {dtype}", lambda: (x.take(i), x.clone().put_(i, v[:, 0]), x.clone().put_(twice[:, 0], v[:, 0], accumulate=True)))
        attempt(f"masked {dtype}", lambda: (x.masked_select(m), x.masked_fill(m, 1), x.clone().masked_scatter_(m, x)))
        attempt(f"nonzero {dtype}", lambda: (x.nonzero(), torch.argwhere(x)))
        attempt(f"tril {dtype}", lambda: (x.tril(), x.triu(1), x[:40, :40].tril()))
        attempt(f"isin {dtype}", lambda: (torch.isin(x, v), torch.searchsorted(x.flatten().sort().values, v)))
        attempt(f"bucketize {dtype}", lambda: torch.bucketize(x, v.flatten().sort().values))


def sort():
    for dtype in FLOATS + INTS:
        for n in (7, 20, 32, 100, 500, 1500, 3000):
            x = make(dtype, 3, n)
            attempt(f"sort {n} {dtype}", lambda: (x.sort(dim=1), x.sort(dim=1, descending=True), x.sort(dim=1, stable=True)))
            attempt(f"topk {n} {dtype}", lambda: (x.topk(3, dim=1), x.topk(5, dim=1, largest=False), x.topk(3, dim=1, sorted=False)))
        x = make(dtype, 5000)
        attempt(f"sort flat {dtype}", lambda: (x.sort(), x.argsort(descending=True), x.sort(stable=True)))
        attempt(f"unique {dtype}", lambda: torch.unique(x, return_inverse=True, return_counts=True))
        attempt(f"unique rows {dtype}", lambda: torch.unique(make(dtype, 50, 2), dim=0))
        attempt(f"unique_consecutive {dtype}", lambda: torch.unique_consecutive(x.sort().values, return_counts=True))
        of = x if dtype in FLOATS else ranks(dtype, 1, 113)[0]
        attempt(f"kthvalue {dtype}", lambda: (of.kthvalue(100), x.median(), x.mode()))
        attempt(f"msort {dtype}", lambda: torch.msort(make(dtype, 70, 40)))


def shape():
    for dtype in FLOATS + INTS + COMPLEX:
        x = make(dtype, 12, 20, 3)
        attempt(f"cat {dtype}", lambda: (torch.cat([x, x]), torch.cat([x, x], 2), torch.stack([x, x], 1), torch.cat([x.transpose(0, 1)] * 3)))
        attempt(f"flip {dtype}", lambda: (x.flip(0), x.flip(0, 2), x.roll(3), x.roll((1, 2), (0, 1)), x.rot90()))
        attempt(f"repeat {dtype}", lambda: (x.repeat(2, 1, 2), x.repeat_interleave(3, 1), x.repeat_interleave(torch.arange(12, device=DEV), 0)))
        attempt(f"contiguous {dtype}", lambda: (x.permute(2, 0, 1).contiguous(), x.clone(), x[::2, ::3].clone()))
        attempt(f"diag {dtype}", lambda: (torch.diag(x[:, 0, 0]), torch.diag_embed(x[0]), torch.block_diag(x[0], x[1])))
        attempt(f"ranges {dtype}", lambda: (torch.arange(300, device=DEV, dtype=dtype), torch.linspace(0, 9, 50, device=DEV, dtype=dtype), torch.logspace(0, 2, 50, device=DEV, dtype=dtype), torch.eye(20, device=DEV, dtype=dtype)))
        attempt(f"indices {dtype}", lambda: (torch.tril_indices(9, 9, device=DEV), torch.triu_indices(9, 9, device=DEV)))
        attempt(f"unfold {dtype}", lambda: (x.unfold(1, 4, 2).clone(), torch.cartesian_prod(x[0, :, 0], x[0, :, 1]), torch.combinations(x[0, :8, 0])))
        attempt(f"cross {dtype}", lambda: torch.linalg.cross(x, x.flip(0)))
        attempt(f"diff {dtype}", lambda: (x.diff(), torch.gradient(x), torch.trapezoid(x)))


def backward(f, *inputs):
    args = [i.clone().requires_grad_() if i.is_floating_point() else i for i in inputs]
    out = f(*args)
    out = out[0] if isinstance(out, tuple) else out
    out.sum().backward()


def nn():
    for dtype in FLOATS:
        x, y = make(dtype, 16, 33), make(dtype, 16, 33)
        p = torch.rand(16, 33, generator=gen).to(dtype).to(DEV)
        im, seq, vol = make(dtype, 2, 8, 12, 14), make(dtype, 2, 8, 20), make(dtype, 2, 4, 6, 8, 6)
        t = torch.randint(0, 33, (16,), generator=gen).to(DEV)
        w8 = make(dtype, 8)
        for name, f in {
            "softmax": lambda a: F.softmax(a, 1), "softmax dim 0": lambda a: F.softmax(a, 0), "softmax long": lambda a: F.softmax(a.flatten().repeat(5), 0), "log_softmax": lambda a: F.log_softmax(a, 1),
            "log_softmax dim 0": lambda a: F.log_softmax(a, 0), "softmin": lambda a: F.softmin(a, 1), "glu": lambda a: F.glu(a[:, :32]), "prelu": lambda a: F.prelu(a, a.new_full((1,), 0.2)),
            "rrelu": lambda a: F.rrelu(a, training=True), "dropout": lambda a: F.dropout(a, 0.4), "alpha_dropout": lambda a: F.alpha_dropout(a, 0.4, True), "normalize": lambda a: F.normalize(a),
            "layer_norm": lambda a: F.layer_norm(a, (33,), a[0].detach(), a[1].detach()), "rms_norm": lambda a: F.rms_norm(a, (33,)), "gumbel": lambda a: F.gumbel_softmax(a),
        }.items():
            attempt(f"{name} {dtype}", backward, f, x)
        for name, f in {
            "mse": F.mse_loss, "l1": F.l1_loss, "smooth_l1": F.smooth_l1_loss, "huber": F.huber_loss, "kl": lambda a, b: F.kl_div(a, b.softmax(1).detach()), "cosine": F.cosine_similarity,
            "bce logits": lambda a, b: F.binary_cross_entropy_with_logits(a, p), "bce": lambda a, b: F.binary_cross_entropy(a.sigmoid(), p), "poisson": lambda a, b: F.poisson_nll_loss(a, p),
            "hinge": lambda a, b: F.hinge_embedding_loss(a, b.detach().sign()), "soft margin": lambda a, b: F.soft_margin_loss(a, b.detach().sign()), "gaussian": lambda a, b: F.gaussian_nll_loss(a, b, p),
            "cross entropy": lambda a, b: F.cross_entropy(a, t), "cross entropy smooth": lambda a, b: F.cross_entropy(a, t, label_smoothing=0.1), "cross entropy probs": lambda a, b: F.cross_entropy(a, b.softmax(1).detach()),
            "nll": lambda a, b: F.nll_loss(a, t), "multi margin": lambda a, b: F.multi_margin_loss(a, t), "multilabel": lambda a, b: F.multilabel_soft_margin_loss(a, p), "multilabel margin": lambda a, b: F.multilabel_margin_loss(a, t[:, None].expand(16, 33).contiguous()),
            "triplet": lambda a, b: F.triplet_margin_loss(a, b, p), "margin ranking": lambda a, b: F.margin_ranking_loss(a, b, p.sign()), "pairwise": F.pairwise_distance,
        }.items():
            attempt(f"{name} {dtype}", backward, f, x, y)
        for name, f in {
            "batch_norm": lambda a: F.batch_norm(a, None, None, w8, w8, True), "batch_norm eval": lambda a: F.batch_norm(a, w8, w8.abs() + 1, w8, w8), "instance_norm": lambda a: F.instance_norm(a), "group_norm": lambda a: F.group_norm(a, 4, w8, w8),
            "max_pool": lambda a: F.max_pool2d(a, 3, 2, 1), "avg_pool": lambda a: F.avg_pool2d(a, 3, 2, 1), "adaptive avg": lambda a: F.adaptive_avg_pool2d(a, (5, 4)), "adaptive max": lambda a: F.adaptive_max_pool2d(a, (5, 4)),
            "lp_pool": lambda a: F.lp_pool2d(a, 2, 3), "fractional": lambda a: F.fractional_max_pool2d(a, 2, (5, 5)), "unfold": lambda a: F.unfold(a, 3), "fold": lambda a: F.fold(F.unfold(a, 3), (12, 14), 3),
            "nearest": lambda a: F.interpolate(a, scale_factor=2), "nearest exact": lambda a: F.interpolate(a, size=(7, 9), mode="nearest-exact"), "bilinear": lambda a: F.interpolate(a, scale_factor=1.7, mode="bilinear"), "bilinear corners": lambda a: F.interpolate(a, size=(20, 20), mode="bilinear", align_corners=True),
            "bicubic": lambda a: F.interpolate(a, scale_factor=1.5, mode="bicubic"), "antialias": lambda a: F.interpolate(a, size=(6, 6), mode="bilinear", antialias=True), "antialias cubic": lambda a: F.interpolate(a, size=(6, 6), mode="bicubic", antialias=True), "area": lambda a: F.interpolate(a, size=(6, 6), mode="area"),
            "reflect": lambda a: F.pad(a, (2, 1, 3, 2), "reflect"), "replicate": lambda a: F.pad(a, (2, 1, 3, 2), "replicate"), "circular": lambda a: F.pad(a, (2, 1, 3, 2), "circular"), "constant": lambda a: F.pad(a, (2, 1, 3, 2), value=1.5),
            "pixel_shuffle": lambda a: F.pixel_shuffle(a, 2), "channel_shuffle": lambda a: F.channel_shuffle(a, 2), "conv": lambda a: F.conv2d(a, make(dtype, 6, 8, 3, 3), padding=1), "depthwise": lambda a: F.conv2d(a, make(dtype, 8, 1, 3, 3), groups=8),
            "transposed": lambda a: F.conv_transpose2d(a, make(dtype, 8, 4, 3, 3), stride=2), "dilated": lambda a: F.conv2d(a, make(dtype, 6, 8, 3, 3), dilation=2), "lrn": lambda a: F.local_response_norm(a, 3), "channel dropout": lambda a: F.dropout2d(a, 0.3),
            "channels last": lambda a: F.max_pool2d(a.to(memory_format=torch.channels_last), 2), "channels last avg": lambda a: F.avg_pool2d(a.to(memory_format=torch.channels_last), 2), "channels last norm": lambda a: F.batch_norm(a.to(memory_format=torch.channels_last), None, None, w8, w8, True),
            "channels last bilinear": lambda a: F.interpolate(a.to(memory_format=torch.channels_last), scale_factor=2, mode="bilinear"), "channels last nearest": lambda a: F.interpolate(a.to(memory_format=torch.channels_last), scale_factor=2),
        }.items():
            attempt(f"{name} {dtype}", backward, f, im)
        grid = make(dtype, 2, 7, 9, 2, low=-1.2, high=1.2)
        for mode in ("bilinear", "nearest", "bicubic"):
            for pad in ("zeros", "border", "reflection"):
                attempt(f"grid_sample {mode} {pad} {dtype}", backward, lambda a, g: F.grid_sample(a, g, mode, pad, False), im, grid)
        attempt(f"affine_grid {dtype}", backward, lambda a: F.affine_grid(a, (2, 3, 6, 6), False), make(dtype, 2, 2, 3))
        for name, f in {
            "pool 1d": lambda a: F.max_pool1d(a, 2), "avg 1d": lambda a: F.avg_pool1d(a, 2), "linear": lambda a: F.interpolate(a, scale_factor=2, mode="linear"), "conv 1d": lambda a: F.conv1d(a, make(dtype, 4, 8, 3)), "reflect 1d": lambda a: F.pad(a, (3, 2), "reflect"), "replicate 1d": lambda a: F.pad(a, (3, 2), "replicate"),
        }.items():
            attempt(f"{name} {dtype}", backward, f, seq)
        for name, f in {
            "pool 3d": lambda a: F.max_pool3d(a, 2), "avg 3d": lambda a: F.avg_pool3d(a, 2), "adaptive 3d": lambda a: F.adaptive_avg_pool3d(a, 3), "adaptive max 3d": lambda a: F.adaptive_max_pool3d(a, 3), "trilinear": lambda a: F.interpolate(a, scale_factor=2, mode="trilinear"), "nearest 3d": lambda a: F.interpolate(a, scale_factor=2),
            "conv 3d": lambda a: F.conv3d(a, make(dtype, 3, 4, 2, 2, 2)), "replicate 3d": lambda a: F.pad(a, (1,) * 6, "replicate"), "reflect 3d": lambda a: F.pad(a, (1,) * 6, "reflect"), "grid 3d": lambda a: F.grid_sample(a, make(dtype, 2, 3, 4, 5, 3, low=-1.0, high=1.0), align_corners=False),
        }.items():
            attempt(f"{name} {dtype}", backward, f, vol)
        emb = make(dtype, 50, 24)
        ids = torch.randint(0, 50, (6, 7), generator=gen).to(DEV)
        attempt(f"embedding {dtype}", backward, lambda e: F.embedding(ids, e), emb)
        attempt(f"embedding many {dtype}", backward, lambda e: F.embedding(ids.repeat(200, 1), e), emb)
        for mode in ("sum", "mean", "max"):
            attempt(f"embedding_bag {mode} {dtype}", backward, lambda e: F.embedding_bag(ids, e, mode=mode), emb)
        q = make(dtype, 1, 2, 24, 16)
        attempt(f"attention {dtype}", backward, lambda a: F.scaled_dot_product_attention(a, a, a, is_causal=True), q)
        attempt(f"attention no grad {dtype}", lambda: F.scaled_dot_product_attention(q, q, q))
        for cls in (torch.nn.LSTM, torch.nn.GRU, torch.nn.RNN):
            attempt(f"{cls.__name__} {dtype}", backward, lambda a: cls(20, 12).to(DEV, dtype)(a.transpose(1, 2).reshape(2, 8, 20))[0], seq)
        attempt(f"ctc {dtype}", backward, lambda a: F.ctc_loss(a.log_softmax(2), ids[:, :4] % 32 + 1, (16,) * 6, (4,) * 6), make(dtype, 16, 6, 33))
        attempt(f"encoder {dtype}", backward, lambda a: torch.nn.TransformerEncoderLayer(16, 2, 32, batch_first=True).to(DEV, dtype)(a), make(dtype, 2, 10, 16))


def random():
    for dtype in FLOATS + INTS:
        x = torch.empty(1000, device=DEV, dtype=dtype)
        for f in ("normal_", "uniform_", "exponential_", "cauchy_", "log_normal_", "random_"):
            attempt(f"{f} {dtype}", lambda: getattr(x, f)())
        attempt(f"geometric {dtype}", lambda: (x.geometric_(0.3), x.bernoulli_(0.4), x.random_(0, 50), x.random_(-10, 10)))
        attempt(f"bernoulli {dtype}", lambda: (torch.bernoulli(torch.rand(500, device=DEV).to(dtype)), torch.poisson(torch.rand(500, device=DEV).to(dtype) * 5)))
        attempt(f"multinomial {dtype}", lambda: (torch.multinomial(torch.rand(4, 40, device=DEV).to(dtype), 5), torch.multinomial(torch.rand(4, 40, device=DEV).to(dtype), 60, True)))
        attempt(f"gamma {dtype}", lambda: (torch._standard_gamma(make(dtype, 200).abs() + 0.1), torch._sample_dirichlet(make(dtype, 20, 5).abs() + 0.1)))
        attempt(f"binomial {dtype}", lambda: torch.binomial(torch.full((300,), 20.0, device=DEV).to(dtype), torch.rand(300, device=DEV).to(dtype)))
        attempt(f"randperm {dtype}", lambda: (torch.randperm(500, device=DEV, dtype=dtype), torch.randperm(40000, device=DEV, dtype=dtype)))


def foreach():
    for dtype in FLOATS + [torch.int32, torch.int64, torch.complex64]:
        a, b = [make(dtype, 100) for _ in range(3)], [make(dtype, 100) for _ in range(3)]
        for op in "add sub mul div maximum minimum pow".split():
            attempt(f"foreach {op} {dtype}", getattr(torch, f"_foreach_{op}"), a, b)
            attempt(f"foreach {op} scalar {dtype}", getattr(torch, f"_foreach_{op}"), a, 2)
            attempt(f"foreach {op} scalars {dtype}", getattr(torch, f"_foreach_{op}"), a, [1, 2, 3])
        for op in "abs neg sqrt exp log sin cos tanh sigmoid ceil floor round trunc frac reciprocal erf lgamma sign expm1 log1p log2 tan asin atan sinh cosh".split():
            attempt(f"foreach {op} {dtype}", getattr(torch, f"_foreach_{op}"), a)
        attempt(f"foreach addcmul {dtype}", lambda: (torch._foreach_addcmul(a, a, b, 0.5), torch._foreach_addcdiv(a, a, b, [1, 2, 3]), torch._foreach_lerp(a, b, 0.3), torch._foreach_lerp(a, b, a)))
        attempt(f"foreach norm {dtype}", lambda: (torch._foreach_norm(a), torch._foreach_norm(a, 1), torch._foreach_max(a), torch._foreach_copy_(a, b), torch._foreach_zero_(a)))


def optim():
    for dtype in (torch.float32, torch.float64, torch.float16, torch.bfloat16):
        for cls, args in [("SGD", dict(lr=0.1, momentum=0.9)), ("Adam", dict(amsgrad=True)), ("AdamW", {}), ("Adagrad", {}), ("RMSprop", dict(centered=True, momentum=0.1)), ("Adadelta", {}), ("Adamax", {}), ("NAdam", {}), ("RAdam", {}), ("ASGD", {}), ("Rprop", {})]:
            for how in (dict(foreach=True), dict(foreach=False), dict(fused=True)):
                def step():
                    ps = [make(dtype, 64).requires_grad_() for _ in range(2)]
                    o = getattr(torch.optim, cls)(ps, **args, **how)
                    for _ in range(2):
                        for p in ps:
                            p.grad = make(dtype, 64)
                        o.step()
                attempt(f"{cls} {how} {dtype}", step)
        g = [make(dtype, 64).requires_grad_()]
        g[0].grad = make(dtype, 64)
        attempt(f"clip {dtype}", lambda: (torch.nn.utils.clip_grad_norm_(g, 1.0), torch.nn.utils.clip_grad_value_(g, 0.5)))
        attempt(f"unscale {dtype}", lambda: torch._amp_foreach_non_finite_check_and_unscale_([make(dtype, 64)], torch.zeros(1, device=DEV), torch.full((1,), 0.5, device=DEV)))


def bits():
    for dtype in [t for t in INTS if t != torch.bool]:
        a, b = make(dtype, 500), make(dtype, 500)
        for op in "bitwise_and bitwise_or bitwise_xor __lshift__ __rshift__ __and__ __or__ __xor__".split():
            attempt(f"{op} {dtype}", lambda: (getattr(a, op)(b % 5), getattr(a, op)(3)))
    for dtype in FLOATS:
        x = make(dtype, 500)
        attempt(f"frexp {dtype}", lambda: (torch.frexp(x), torch.modf(x) if hasattr(torch, "modf") else None, torch.sgn(x), torch.nextafter(x, -x)))
        attempt(f"quantize {dtype}", lambda: (torch.fake_quantize_per_tensor_affine(x, 0.1, 0, -128, 127), torch.fake_quantize_per_channel_affine(x.view(20, 25), torch.full((20,), 0.1, device=DEV), torch.zeros(20, device=DEV, dtype=torch.int32), 0, -128, 127)))
        attempt(f"complex {dtype}", lambda: (torch.complex(x, x), torch.polar(x.abs(), x), torch.view_as_complex(x.view(250, 2)).abs()))
        attempt(f"orthogonal {dtype}", lambda: [getattr(torch.special, n)(x.abs(), make(torch.int32, 500).abs().to(dtype) % 5) for n in ("chebyshev_polynomial_t", "hermite_polynomial_h", "laguerre_polynomial_l", "legendre_polynomial_p")])
        attempt(f"windows {dtype}", lambda: [getattr(torch, n)(100, device=DEV, dtype=dtype) for n in ("hann_window", "hamming_window", "blackman_window", "bartlett_window", "kaiser_window")])


def linalg():
    for dtype in FLOATS + COMPLEX + [torch.int32]:
        a, b, v = make(dtype, 24, 24), make(dtype, 24, 24), make(dtype, 24)
        attempt(f"products {dtype}", lambda: (a @ b, a @ v, v.dot(v), torch.addmm(a, a, b), torch.bmm(a[None], b[None]), torch.baddbmm(a[None], a[None], b[None])))
        attempt(f"outer {dtype}", lambda: (torch.outer(v, v), torch.kron(a[:4, :4], b[:3, :3]), torch.einsum("ij,jk->ki", a, b), torch.vdot(v, v)))
        attempt(f"tri {dtype}", lambda: (a.tril(-1), a.triu(2), torch.vander(v), torch.linalg.matrix_power(a, 3)))
        attempt(f"sparse {dtype}", lambda: (a.to_sparse(), a.to_sparse().coalesce().to_dense(), a.to_sparse_csr()))
        attempt(f"sparse sum {dtype}", lambda: (torch.sparse.sum(a.to_sparse(), 0), torch.sparse.softmax(a.to_sparse(), 1), a.to_sparse() * a.to_sparse()))


GROUPS = [unary, binary, reduce, cast, index, sort, shape, nn, random, foreach, optim, bits, linalg]
wanted = [g for g in GROUPS if not options.groups or g.__name__ in options.groups]
late = {g: 0 for g in wanted}
for FLOATS, INTS, COMPLEX in TURNS:
    for group in wanted:
        before, missed = done, left
        group()
        late[group] += left - missed
        print(f"{group.__name__}: {done - before} operations ran, {left - missed} are left", flush=True)
for group in wanted:
    if not late[group] and group.__name__ not in through:
        print(group.__name__, file=through_file)
print(f"{done} operations ran, {failed} are not there for their type, {left} are left", flush=True)
