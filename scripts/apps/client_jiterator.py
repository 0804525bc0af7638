"""PyTorch's jiterator on Kudzu: CUDA C++ in strings, compiled by NVRTC, which is ours, against PyTorch's CPU functions."""

import torch
from torch.cuda import jiterator

from rows import Client

client = Client("PyTorch's jiterator", torch.__version__, source="Debian 13" if "debian" in torch.__version__ else "PyPI")
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


def case(name):
    fn, cpu, args, options = CASES[name]()

    def run():
        got = fn(*[a.cuda() for a in args], **options)
        return [g.cpu() for g in got] if isinstance(got, (tuple, list)) else got.cpu()

    client.case(name, run, lambda: cpu(*args, **options), BOUND.get(args[0].dtype, 1e-6), group="kernels of the user")


for name in CASES:
    case(name)
