"""What the cases of client_torch_ops.py share: operands, results and gradients on two devices, and how far they are apart.

A case is an operator. It runs on several inputs (contiguous, strided, broadcast, empty, one element) in several types. Its error is the
largest difference from the CPU as a part of the largest magnitude in the tensor, in units of the type's epsilon; of integers and
booleans any difference is infinite. Types of 16 bits are compared with what the CPU computes in f32 from the same numbers."""

import os
import zlib

import numpy as np
import torch

from rows import Client

client = Client("torch-ops", torch.__version__, source="Debian 13", unit="eps")
torch.backends.cuda.matmul.allow_tf32 = torch.backends.cudnn.allow_tf32 = False
torch.set_num_threads(1)

F32, F64, F16, BF16, C64, C128 = torch.float32, torch.float64, torch.float16, torch.bfloat16, torch.complex64, torch.complex128
FLOATS, WIDE, COMPLEX = [F32, F64, F16, BF16], [F32, F64], [C64, C128]
INTS = [torch.int32, torch.int64, torch.int16, torch.int8, torch.uint8]
BOOL = [torch.bool]
NUMBERS, ALL = FLOATS + INTS, FLOATS + INTS + COMPLEX + BOOL
state = torch.Generator()


def rand(*shape, dtype=F32, low=-2.0, high=2.0):
    """Numbers of any type between low and high; of integers, both belong to them."""
    if dtype == torch.bool:
        return torch.rand(shape, generator=state) < 0.5
    if dtype.is_complex:
        parts = (torch.rand(shape, generator=state, dtype=F64) * (high - low) + low for _ in range(2))
        return torch.complex(*parts).to(dtype)
    if dtype.is_floating_point:
        return (torch.rand(shape, generator=state, dtype=F64) * (high - low) + low).to(dtype)
    return torch.randint(max(int(low), 0) if dtype == torch.uint8 else int(low), int(high) + 1, shape, generator=state).to(dtype)


def ints(high, *shape):
    return torch.randint(0, high, shape, generator=state)


def views(dtype, low=-2.0, high=2.0):
    """One operand in every form: contiguous, more than a block, transposed, with steps, unaligned, empty, one element, of no dimension."""
    def r(*shape):
        return rand(*shape, dtype=dtype, low=low, high=high)
    return [(r(7, 33),), (r(3, 5000),), (r(33, 17).t(),), (r(9, 40)[::2, 1::3],), (r(1030)[3:],), (r(0, 4),), (r(1),), (r(),)]


def pairs(dtype, low=-2.0, high=2.0):
    """Two operands: the same shape, more than a block, transposed, broadcast both ways, with a number of the host, empty, one element."""
    def r(*shape):
        return rand(*shape, dtype=dtype, low=low, high=high)
    return [(r(7, 33), r(7, 33)), (r(5000), r(5000)), (r(9, 21), r(21, 9).t()), (r(6, 1, 5), r(4, 1)), (r(8, 9), r()), (r(0, 3), r(0, 3)), (r(1), r(1))]


def map_tensors(x, f):
    if isinstance(x, torch.Tensor):
        return f(x)
    if isinstance(x, (list, tuple)):
        return [map_tensors(v, f) for v in x]
    return {k: map_tensors(v, f) for k, v in x.items()} if isinstance(x, dict) else x


def flat(x):
    if isinstance(x, torch.Tensor):
        return [x.to_dense() if x.layout != torch.strided else x]
    if isinstance(x, (list, tuple)):
        return [t for v in x for t in flat(v)]
    return [] if x is None else [torch.as_tensor(x)]


def up(t):
    return t.float() if t.dtype in (F16, BF16) else t


def plain(t):
    return t.detach().resolve_conj().resolve_neg().cpu()


def apply(f, args, device, grad, wide):
    """What f gives on a device, and the gradients of its operands for a fixed gradient of each result."""
    def move(t):
        t = (up(t) if wide else t).detach()
        t = t.clone() if t.device.type == device else t.to(device)  # both keep strides that cover their memory
        return t.requires_grad_() if grad and (t.is_floating_point() or t.is_complex()) and t.layout == torch.strided else t

    moved = map_tensors(args, move)
    out = flat(f(*moved))
    if not grad:
        return [plain(t) for t in out]
    leaves = []
    map_tensors(moved, lambda t: leaves.append(t) if t.requires_grad else None)
    roots = [t for t in out if t.requires_grad]
    numbers = torch.Generator().manual_seed(5)
    with_respect = [torch.rand(t.shape, generator=numbers, dtype=F64).to(t.dtype).to(device) for t in roots]
    got = torch.autograd.grad(roots, leaves, with_respect, allow_unused=True) if roots and leaves else []
    return [plain(t) for t in (*out, *got) if t is not None]


def far(got, want, dtype):
    """The difference in units of dtype's epsilon."""
    if got.shape != want.shape:
        raise ValueError(f"the shape is {tuple(got.shape)}, not {tuple(want.shape)}")
    if want.numel() == 0:
        return 0.0
    if not (want.is_floating_point() or want.is_complex()):
        return 0.0 if torch.equal(got, want) else float("inf")
    eps = torch.finfo(dtype if dtype.is_floating_point or dtype.is_complex else torch.promote_types(want.dtype, F32)).eps
    got, want = (t.to(C128 if t.is_complex() else F64).numpy() for t in (got, want))
    with np.errstate(all="ignore"):
        diff = np.where((got == want) | (np.isnan(got) & np.isnan(want)), 0, np.abs(got - want))
        if np.isnan(diff).any():
            return float("inf")
        finite = np.abs(want[np.isfinite(want)])
        scale = finite.max() if finite.size and finite.max() > 0 else 1.0
        return float(diff.max() / scale / eps)


names = {}
VERBOSE = bool(os.environ.get("VERBOSE"))


def op(group, name, f, inputs, dtypes=(F32,), bound=4.0, grad=None, check=None):
    """An operator f on the tuples of operands that inputs(dtype) lists. grad: types in which gradients are compared, too.

    check, where results are not unique, makes of operands and results what is."""
    assert name not in names, name
    names[name] = group
    grad = [d for d in (WIDE if grad is True else grad or []) if d in dtypes]
    cases = []
    for d in dtypes:
        state.manual_seed(zlib.crc32(f"{name} {d}".encode()))
        for args in inputs(d):
            args = args if isinstance(args, tuple) else (args,)
            narrow = any(isinstance(a, torch.Tensor) and a.dtype in (F16, BF16) for a in args) or d in (F16, BF16)
            g = (lambda *a, f=f: check(a, f(*a))) if check else f
            cases += [(g, args, d, b, narrow) for b in ([False, True] if d in grad else [False])]
    expected = []

    def want():
        expected[:] = [apply(g, args, "cpu", b, narrow) for g, args, d, b, narrow in cases]
        return np.float64(0)

    def run():
        worst = 0.0
        for (g, args, d, b, narrow), e in zip(cases, expected, strict=True):
            try:
                got = apply(g, args, "cuda", b, False)
                off = max([0.0, *(far(x, w, d) for x, w in zip(got, e, strict=True))])
                if off > max(bound, worst) and VERBOSE:
                    print(f"# {name}: {off:.3g} {d} {[tuple(a.shape) for a in args if isinstance(a, torch.Tensor)]} grad {b}", flush=True)
                worst = max(worst, off)
            except Exception as x:
                shapes = [tuple(a.shape) if isinstance(a, torch.Tensor) else a for a in args]
                raise type(x)(f"{d} {shapes}{' backwards' if b else ''}: {x}") from x
        return np.float64(worst)

    client.case(name, run, want, bound, group=group)
