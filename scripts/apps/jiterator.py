"""Opt-in: PyTorch's jiterator on Kudzu: CUDA C++ in strings, compiled by NVRTC, which is ours, against PyTorch's CPU functions.

    dist/bin/kudzu run python scripts/apps/jiterator.py

The Python needs torch, for CUDA. A line for each case; the exit is 1 where one is wrong.
"""

import sys
import time

import torch
from torch.cuda import jiterator

torch.manual_seed(1)


def floats(dtype):
    return torch.randn(1000, dtype=torch.float64).to(dtype)


def complexes():
    return torch.complex(floats(torch.float32), floats(torch.float32))


AXPY = "template <typename T> T axpy(T x, T y, T a) { return a * x + y; }"
GELU = "template <typename T> T gelu(T x) { return x * T(0.5) * (T(1) + erf(x * T(0.70710678118654752440))); }"
PRODUCT = "template <typename T> T product(T x, T y) { return x * y + T(1); }"

axpy = jiterator._create_jit_fn(AXPY, a=1.0)
gelu = jiterator._create_jit_fn(GELU)
product = jiterator._create_jit_fn(PRODUCT)
pair = jiterator._create_multi_output_jit_fn("template <typename T> void pair(T x, T y, T &sum, T &diff) { sum = x + y; diff = x - y; }", 2)

CASES = {
    "float": lambda: (axpy, lambda x, y, a: a * x + y, (floats(torch.float32), floats(torch.float32)), {"a": 2.5}),
    "double": lambda: (axpy, lambda x, y, a: a * x + y, (floats(torch.float64), floats(torch.float64)), {"a": 2.5}),
    "half": lambda: (axpy, lambda x, y, a: a * x + y, (floats(torch.float16), floats(torch.float16)), {"a": 2.5}),
    "bfloat16": lambda: (axpy, lambda x, y, a: a * x + y, (floats(torch.bfloat16), floats(torch.bfloat16)), {"a": 2.5}),
    "int": lambda: (product, lambda x, y: x * y + 1, (torch.arange(1000), torch.arange(1000)), {}),
    "a function": lambda: (gelu, torch.nn.functional.gelu, (floats(torch.float32),), {}),
    "broadcast": lambda: (product, lambda x, y: x * y + 1, (floats(torch.float32).reshape(10, 100), floats(torch.float32)[:100]), {}),
    "strided": lambda: (product, lambda x, y: x * y + 1, (floats(torch.float32).reshape(10, 100).t(), floats(torch.float32).reshape(100, 10)), {}),
    "complex": lambda: (product, lambda x, y: x * y + 1, (complexes(), complexes()), {}),
    "two results": lambda: (pair, lambda x, y: (x + y, x - y), (floats(torch.float32), floats(torch.float32)), {}),
}
BOUND = {torch.float16: 4e-3, torch.bfloat16: 3e-2}

bad = 0
for name in sys.argv[1:] or CASES:
    fn, cpu, args, options = CASES[name]()
    start = time.time()
    got = fn(*[a.cuda() for a in args], **options)
    got = [g.cpu() for g in (got if isinstance(got, (tuple, list)) else [got])]
    want = cpu(*args, **options)
    want = want if isinstance(want, (tuple, list)) else [want]
    error = max(((g - w).abs().max() / w.abs().max()).item() for g, w in zip(got, want, strict=True))
    right = error <= BOUND.get(args[0].dtype, 1e-6)
    bad |= not right
    print(f"jiterator {torch.__version__} {name}: {'right' if right else 'WRONG'}, error {error:.1e}, {time.time() - start:.1f} s", flush=True)
sys.exit(bad)
