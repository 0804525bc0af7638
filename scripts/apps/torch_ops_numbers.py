"""Operators of client_torch_ops.py on each element, on pairs, reductions and scans."""

import torch
import torch.nn.functional as F

from torch_cases import ALL, BF16, BOOL, COMPLEX, F16, F32, F64, FLOATS, INTS, NUMBERS, WIDE, ints, op, pairs, rand, views


def fn(name):
    """The function of torch, torch.special, torch.linalg, torch.fft or torch.nn.functional that name says."""
    at = torch
    for part in name.split("."):
        at = getattr(at, part)
    return at


def elementwise():
    # name, low, high, types, whether it has a gradient, bound; the bound is what PyTorch's own formulas differ by, on a CPU and a GPU
    table = """
    abs -2 2 n g 1|neg -2 2 fnc g 1|sign -2 2 nb - 0|sgn -2 2 nc - 4|sqrt 0 4 fic g 4|rsqrt .1 4 fic g 8|reciprocal .3 3 fc g 4
    exp -2 2 fic g 4|exp2 -2 2 fc g 4|expm1 -2 2 fc g 4|log .1 3 fic g 4|log2 .1 3 fc g 4|log10 .1 3 fc g 4|log1p -.5 3 fc g 4
    sin -3 3 fic g 4|cos -3 3 fic g 4|tan -1 1 fc g 8|asin -.9 .9 fc g 8|acos -.9 .9 fc g 8|atan -3 3 fc g 8|sinh -2 2 fc g 8
    cosh -2 2 fc g 8|tanh -1 1 fic g 8|asinh -3 3 fc g 32|acosh 1.1 3 fc g 8|atanh -.9 .9 fc g 32|erf -2 2 fi g 4|erfc -2 2 f g 4
    erfinv -.9 .9 f g 16|sigmoid -2 2 fic g 4|logit .1 .9 f g 8|lgamma .3 4 f g 16|digamma .3 4 f g 16|ceil -3 3 fn - 0|floor -3 3 fn - 0
    round -3 3 fn - 0|trunc -3 3 fn - 0|frac -3 3 f g 1|square -2 2 nc g 4|isnan -2 2 nc - 0|isinf -2 2 nc - 0|isfinite -2 2 nc - 0
    isposinf -2 2 n - 0|isneginf -2 2 n - 0|isreal -2 2 nc - 0|signbit -2 2 n - 0|sinc .3 2 fc g 16|i0 -2 2 f g 8
    angle -2 2 wic - 4|deg2rad -90 90 f g 2|rad2deg -2 2 f g 2|nan_to_num -2 2 n g 0|bitwise_not -9 9 ib - 0|logical_not -2 2 nbc - 0
    real -2 2 c g 0|imag -2 2 c g 0|conj_physical -2 2 nc g 0|special.i0e -2 2 f g 8|special.i1 -2 2 f g 16|special.i1e -2 2 f g 16
    special.ndtr -2 2 f g 8|special.ndtri .1 .9 w g 32|special.log_ndtr -2 2 w g 8|special.entr .1 2 f g 4|special.erfcx -1 2 w g 16
    special.bessel_j0 .5 4 w - 16|special.bessel_j1 .5 4 w - 16|special.bessel_y0 .5 4 w - 16|special.bessel_y1 .5 4 w - 16
    special.modified_bessel_i0 .5 4 w - 16|special.modified_bessel_i1 .5 4 w - 16|special.modified_bessel_k0 .5 4 w - 16
    special.modified_bessel_k1 .5 4 w - 16|special.scaled_modified_bessel_k0 .5 4 w - 16|special.airy_ai -1 2 w - 32
    special.spherical_bessel_j0 .5 4 w - 16"""
    kinds = {"f": FLOATS, "w": WIDE, "i": INTS, "n": NUMBERS, "c": COMPLEX, "b": BOOL}
    for row in table.replace("\n", "|").split("|"):
        if not row.strip():
            continue
        name, low, high, kind, grad, bound = row.split()
        types = list(dict.fromkeys(d for k in kind for d in kinds[k]))
        op("elementwise", name, fn(name), lambda d: views(d, float(low), float(high)), types, float(bound), WIDE + COMPLEX if grad == "g" else None)
    for name, f in {
        "relu": F.relu, "relu6": F.relu6, "elu": F.elu, "selu": F.selu, "celu": F.celu, "gelu": F.gelu, "gelu tanh": lambda x: F.gelu(x, approximate="tanh"),
        "silu": F.silu, "mish": F.mish, "softplus": F.softplus, "softsign": F.softsign, "tanhshrink": F.tanhshrink, "hardtanh": F.hardtanh,
        "hardsigmoid": F.hardsigmoid, "hardswish": F.hardswish, "hardshrink": F.hardshrink, "softshrink": F.softshrink, "leaky_relu": F.leaky_relu,
        "logsigmoid": F.logsigmoid, "threshold": lambda x: F.threshold(x, 0.25, 7.0), "clamp": lambda x: x.clamp(-0.5, 1), "polygamma": lambda x: torch.polygamma(1, x.abs() + 1),
        "multigammaln": lambda x: torch.special.multigammaln(x.abs() + 2, 2), "round decimals": lambda x: x.round(decimals=2),
    }.items():  # fmt: skip
        if name in ("hardsigmoid", "hardswish"):  # PyTorch's GPU kernels take 1/6 in f32 for f64, too
            op("elementwise", name, f, views, [F32, F16, BF16], 8, True)
            continue
        op("elementwise", name, f, views, WIDE if "gamma" in name or "decimals" in name else FLOATS, 32 if "gamma" in name else 8, True)
    op("elementwise", "glu", F.glu, lambda d: [rand(6, 8, dtype=d), rand(3, 4000, dtype=d)], FLOATS, 8, True)
    op("elementwise", "prelu", F.prelu, lambda d: [(rand(4, 6, 9, dtype=d), rand(6, dtype=d)), (rand(4, 6, dtype=d), rand(1, dtype=d))], FLOATS, 16, True)
    special = torch.tensor([float("inf"), -float("inf"), float("nan"), 0.0, -0.0, 1e-40, 1e30, -1.5])
    for name in "abs neg exp log sqrt rsqrt sin tanh erf sigmoid floor round isnan isinf nan_to_num sign reciprocal expm1 log1p atan".split():
        op("elementwise", name + " of inf, nan, subnormal", fn(name), lambda d: [special.to(d)], WIDE, 4)


def casts():
    types = ALL
    for to in types:
        def run(x, to=to):
            return x.to(to)
        frm = lambda d, to=to: [(rand(5, 700, dtype=d, low=0 if to == torch.uint8 else -30, high=30),), (rand(20, 30, dtype=d, low=0, high=30).t()[::2],)]
        op("elementwise", f"to {str(to)[6:]}", run, frm, [d for d in types if not (d.is_complex and not to.is_complex)], 8 if to in (F16, BF16) else 1)
    # a cast to f16 is compared in f32: 2^-11 of the largest, in units of f32 or f64 for these sources; it is compared exactly below
    op("elementwise", "to float16, exactly", lambda x: x.to(F16).float(), lambda d: [rand(4000, dtype=d, low=-70000, high=70000)], WIDE, 0)
    op("elementwise", "to bfloat16, exactly", lambda x: x.to(BF16).float(), lambda d: [rand(4000, dtype=d, low=-70000, high=70000)], WIDE, 0)
    for name, to in ("float8_e4m3fn", torch.float8_e4m3fn), ("float8_e5m2", torch.float8_e5m2):
        op("elementwise", f"to {name}, exactly", lambda x, to=to: x.to(to).float(), lambda d: [rand(4000, dtype=d, low=-500, high=500)], [F32], 0)
    op("elementwise", "view_as_real", lambda x: torch.view_as_real(x) + 1, lambda d: [rand(5, 7, dtype=d)], COMPLEX, 0)
    op("elementwise", "polar", torch.polar, lambda d: [(rand(50, dtype=d, low=0), rand(50, dtype=d))], WIDE, 4, True)
    op("elementwise", "complex", torch.complex, lambda d: [(rand(5, 70, dtype=d), rand(5, 70, dtype=d))], WIDE, 0, True)


def binary():
    table = """
    add -2 2 ncb g 8|sub -2 2 nc g 8|mul -2 2 ncb g 8|div .3 2 nc g 16|floor_divide 1 9 n - 0|remainder 1 9 n - 4|fmod 1 9 n - 4|pow .3 2 fc g 8
    atan2 -2 2 f g 8|hypot .1 2 f g 4|maximum -2 2 nb g 8|minimum -2 2 nb g 8|fmax -2 2 nb g 8|fmin -2 2 nb g 8|copysign .2 2 f g 8|nextafter -2 2 w - 1
    heaviside -2 2 n - 0|logaddexp -2 2 f g 8|logaddexp2 -2 2 f g 8|eq -2 2 ncb - 0|ne -2 2 ncb - 0|lt -2 2 nb - 0|le -2 2 nb - 0|gt -2 2 nb - 0|ge -2 2 nb - 0
    logical_and -2 2 ncb - 0|logical_or -2 2 ncb - 0|logical_xor -2 2 ncb - 0|bitwise_and -9 9 ib - 0|bitwise_or -9 9 ib - 0|bitwise_xor -9 9 ib - 0
    bitwise_left_shift 0 5 i - 0|bitwise_right_shift 0 5 i - 0|gcd 1 90 i - 0|lcm 1 9 i - 0|ldexp -2 2 w - 4|xlogy .1 2 f g 4|float_power .3 2 wi - 16|rsub -2 2 nc g 8
    special.xlog1py .1 2 f g 4|special.zeta 1.5 4 w - 64|igamma .3 3 w - 32|igammac .3 3 w - 64|isclose -2 2 n - 0|special.hermite_polynomial_h 0 3 w - 32
    special.chebyshev_polynomial_t 0 1 w - 64|special.laguerre_polynomial_l 0 3 w - 32"""
    kinds = {"f": FLOATS, "w": WIDE, "i": INTS, "n": NUMBERS, "c": COMPLEX, "b": BOOL}
    for row in table.replace("\n", "|").split("|"):
        if not row.strip():
            continue
        name, low, high, kind, grad, bound = row.split()
        types = list(dict.fromkeys(d for k in kind for d in kinds[k]))
        op("binary", name, fn(name), lambda d: pairs(d, float(low), float(high)), types, float(bound), WIDE if grad == "g" else None)
    for mode in "floor", "trunc":
        op("binary", f"div {mode}", lambda a, b, mode=mode: torch.div(a, b, rounding_mode=mode), lambda d: pairs(d, 1, 9), WIDE + INTS, 0)
    op("binary", "add alpha, mixed types", lambda a, b: torch.add(a, b, alpha=2), lambda d: [(rand(9, 30, dtype=d), rand(30, dtype=torch.int32)), (rand(99, dtype=torch.bool), rand(99, dtype=d))],
       FLOATS + INTS, 2)  # fmt: skip
    op("binary", "numbers of the host", lambda x: [x + 2, 3 - x, x * 1.5, x / 4, x // 2, x % 3, x**2, 2**x, x > 0.5], views, FLOATS, 8)
    op("binary", "in place", lambda x, y: [x.clone().add_(y), x.clone().mul_(y), x.clone().sub_(y, alpha=2), x.clone().div_(y), x.clone().copy_(y)], lambda d: pairs(d, 1, 3)[:2], FLOATS, 4)
    three = lambda d: [tuple(rand(*s, dtype=d, low=0.5) for s in ss) for ss in (((5, 40),) * 3, ((4, 1, 9), (7, 1), (9,)), ((3000,),) * 3, ((0,),) * 3)]
    op("binary", "lerp", torch.lerp, three, FLOATS, 4, True)
    op("binary", "addcmul", lambda a, b, c: torch.addcmul(a, b, c, value=0.5), three, FLOATS, 4, True)
    op("binary", "addcdiv", lambda a, b, c: torch.addcdiv(a, b, c, value=0.5), three, FLOATS, 8, True)
    op("binary", "where", lambda a, b, c: torch.where(a > 1, b, c), three, FLOATS, 8, True)
    op("binary", "clamp tensors", lambda a, b, c: torch.clamp(a, torch.minimum(b, c), torch.maximum(b, c)), three, FLOATS, 8, True)
    op("binary", "allclose, equal", lambda a, b: [torch.allclose(a, a), torch.equal(a, b)], lambda d: [(rand(900, dtype=d), rand(900, dtype=d))], FLOATS, 0)


def reductions():
    def shapes(d, low=-2, high=2, empty=True):
        x = [(rand(7, 33, dtype=d, low=low, high=high),), (rand(3, 20000, dtype=d, low=low, high=high),), (rand(4000, 5, dtype=d, low=low, high=high),), (rand(6, 8, 10, dtype=d, low=low, high=high).permute(2, 0, 1),), (rand(1, 1, dtype=d, low=low, high=high),)]
        return x + ([(rand(0, 3, dtype=d),)] if empty else [])

    each = lambda f: lambda x: [f(x), f(x, dim=0), f(x, dim=-1, keepdim=True)]
    dims = lambda f: lambda x: [f(x, dim=0), f(x, dim=-1, keepdim=True)]
    # sums of n numbers in another order: their error is n*eps/2 at worst, sqrt(n)*eps as a rule
    op("reductions", "sum", each(torch.sum), shapes, ALL, 64, True)
    op("reductions", "mean", each(torch.mean), lambda d: shapes(d, empty=False), FLOATS + COMPLEX, 64, True)
    op("reductions", "prod", lambda x: [torch.prod(x[:, :20]), torch.prod(x[:, :20], 1)], lambda d: [(rand(3, 30, dtype=d, low=1, high=1.2),), (rand(2, 17, dtype=d, low=1, high=1.2),)], NUMBERS + COMPLEX, 64, True)
    for name in "var", "std":
        op("reductions", name, each(fn(name)), lambda d: shapes(d, empty=False)[:4], FLOATS, 64, True)
        op("reductions", name + "_mean", lambda x, f=fn(name + "_mean"): f(x, dim=-1, correction=0), lambda d: shapes(d, empty=False)[:4], FLOATS, 64, True)
    for name in "amax", "amin":
        op("reductions", name, each(fn(name)), lambda d: shapes(d, empty=False), NUMBERS + BOOL, 0, True)
    for name in "max", "min":
        op("reductions", name, lambda x, f=fn(name): [f(x), f(x, 0), f(x, -1)], lambda d: shapes(d, empty=False)[:3], WIDE, 0, True)
    op("reductions", "aminmax", lambda x: list(torch.aminmax(x)) + list(torch.aminmax(x, dim=0)), lambda d: shapes(d, empty=False), NUMBERS, 0)
    op("reductions", "argmax", each(torch.argmax), lambda d: shapes(d, empty=False), WIDE, 0)
    op("reductions", "argmin", each(torch.argmin), lambda d: shapes(d, empty=False), WIDE, 0)
    op("reductions", "all", each(torch.all), lambda d: shapes(d, low=0, high=9), ALL, 0)
    op("reductions", "any", each(torch.any), lambda d: shapes(d, low=0, high=0.01), ALL, 0)
    for p in 0, 1, 2, 3, float("inf"), -float("inf"):
        op("reductions", f"norm {p}", lambda x, p=p: [torch.linalg.vector_norm(x, p), torch.linalg.vector_norm(x, p, 0)], lambda d: shapes(d, empty=False)[:4], FLOATS + COMPLEX, 64, True if p in (1, 2, 3) else None)
    op("reductions", "logsumexp", lambda x: [torch.logsumexp(x, 0), torch.logsumexp(x, (0, 1))], lambda d: shapes(d, empty=False), FLOATS, 64, True)
    holes = lambda d: [(x.masked_fill(x > 1, float("nan")),) for (x,) in shapes(d, empty=False)[:4]]
    op("reductions", "nansum", each(torch.nansum), holes, FLOATS, 64, True)
    op("reductions", "nanmean", each(torch.nanmean), holes, FLOATS, 64, True)
    op("reductions", "median", lambda x: [torch.median(x), torch.median(x, 0).values], lambda d: shapes(d, empty=False)[:4], FLOATS + INTS, 0)
    op("reductions", "nanmedian", lambda x: [torch.nanmedian(x), torch.nanmedian(x, -1).values], holes, WIDE, 0)
    # which of several values that are as frequent is not said
    op("reductions", "mode", lambda x: (x == torch.mode(x, -1, keepdim=True).values).sum(-1), lambda d: [(rand(5, 60, dtype=d, low=-3, high=3),), (rand(2, 1500, dtype=d, low=-9, high=9),)], [torch.int32, torch.int64], 0)
    op("reductions", "count_nonzero", lambda x: [torch.count_nonzero(x), torch.count_nonzero(x, 0)], lambda d: shapes(d, 0, 1), ALL, 0)
    op("reductions", "quantile", lambda x: torch.quantile(x, torch.tensor([0.1, 0.5, 0.9], dtype=x.dtype, device=x.device), dim=1), lambda d: shapes(d, empty=False)[:2], WIDE, 8, True)
    op("reductions", "nanquantile", lambda x: torch.nanquantile(x, 0.3, dim=0), lambda d: holes(d)[:2], WIDE, 8)
    op("reductions", "kthvalue", lambda x: torch.kthvalue(x, 2, 1).values, lambda d: shapes(d, empty=False)[:3], FLOATS + [torch.int32, torch.int64], 0, True)
    op("reductions", "dist", torch.dist, lambda d: [(rand(9000, dtype=d), rand(9000, dtype=d))], WIDE, 64, True)
    op("reductions", "trapezoid", lambda x: torch.trapezoid(x, dx=0.1), lambda d: shapes(d)[:2], WIDE, 64, True)
    op("reductions", "corrcoef, cov", lambda x: [torch.corrcoef(x), torch.cov(x)], lambda d: [(rand(5, 900, dtype=d),)], WIDE, 128)
    op("reductions", "sum, a type of its own", lambda x: [x.sum(dtype=F32), x.sum(0, dtype=F64)], lambda d: shapes(d)[:2], [F16, BF16, torch.int8], 4)
    op("scans", "cumsum", lambda x: [x.cumsum(0), x.cumsum(-1)], shapes, NUMBERS + COMPLEX, 256, WIDE)
    op("scans", "cumprod", lambda x: [x.cumprod(-1)], lambda d: [(rand(3, 40, dtype=d, low=1, high=1.1),), (rand(2, 300, dtype=d, low=1, high=1.01),)], FLOATS, 256, True)
    op("scans", "cummax", lambda x: [*x.cummax(0), *x.cummax(-1)], lambda d: shapes(d, empty=False), WIDE + INTS, 128, True)
    op("scans", "cummin", lambda x: [*x.cummin(0), *x.cummin(-1)], lambda d: shapes(d, empty=False), WIDE + INTS, 128, True)
    op("scans", "logcumsumexp", lambda x: [x.logcumsumexp(0), x.logcumsumexp(-1)], lambda d: shapes(d, empty=False)[:4], WIDE, 64, True)
    op("scans", "cumulative_trapezoid", lambda x: torch.cumulative_trapezoid(x, dim=0), lambda d: shapes(d)[:1], WIDE, 64)
    op("scans", "diff", lambda x: [torch.diff(x), torch.diff(x, n=2, dim=0)], lambda d: shapes(d, empty=False)[:4], NUMBERS, 1, True)
    op("scans", "histc", lambda x: torch.histc(x, 20, -2, 2), lambda d: [(rand(9000, dtype=d),), (rand(30, 40, dtype=d).t(),)], WIDE, 0)
    op("scans", "bincount", lambda x: [torch.bincount(x), torch.bincount(x, minlength=300)], lambda d: [(rand(9000, dtype=d, low=0, high=200),), (rand(1, dtype=d, low=0),)], [torch.int32, torch.int64, torch.uint8], 0)
    op("scans", "bincount, weights", lambda x, w: torch.bincount(x, w), lambda d: [(ints(50, 5000), rand(5000, dtype=d))], WIDE, 64)
