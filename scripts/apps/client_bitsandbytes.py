"""bitsandbytes on Kudzu, by the C library of its wheel for CUDA 12.6: PyPI's torch, which its Python wants, has no PTX. Blocks are quantised and
dequantised against the nearest entries of the table, products of 4 and 8 bits against those of the same weights; both in NumPy."""

import ctypes
import glob
import os
import site
from importlib import metadata

import numpy as np

from rows import Client

folder = os.path.join(site.getsitepackages()[0], "bitsandbytes")
lib = ctypes.CDLL(glob.glob(f"{folder}/libbitsandbytes_cuda126.so")[0])
cuda = ctypes.CDLL("libcudart.so.12")
client = Client("bitsandbytes", metadata.version("bitsandbytes"))
rng = np.random.default_rng(2)
BLOCK, N = 64, 64 * 512
P, I, L = ctypes.c_void_p, ctypes.c_int32, ctypes.c_longlong
NF4 = np.array([-1.0, -0.6961928009986877, -0.5250730514526367, -0.39491748809814453, -0.28444138169288635, -0.18477343022823334, -0.09105003625154495, 0.0,
                0.07958029955625534, 0.16093020141124725, 0.24611230194568634, 0.33791524171829224, 0.44070982933044434, 0.5626170039176941, 0.7229568362236023, 1.0], "f4")


def check(code):
    if code:
        raise RuntimeError(f"CUDA answers {code}")


class Memory:
    """Arrays on the device, for the length of one case."""

    def __init__(self):
        self.all = []

    def __enter__(self):
        return self

    def __exit__(self, *_):
        for p in self.all:
            cuda.cudaFree(p)

    def put(self, a):
        a = np.ascontiguousarray(a)
        p = self.new(a.nbytes)
        check(cuda.cudaMemcpy(p, a.ctypes.data_as(P), ctypes.c_size_t(a.nbytes), 1))
        return p

    def new(self, size):
        p = P()
        check(cuda.cudaMalloc(ctypes.byref(p), ctypes.c_size_t(size)))
        self.all.append(p)
        return p

    def get(self, p, shape, dtype):
        a = np.empty(shape, dtype)
        check(cuda.cudaDeviceSynchronize())
        check(cuda.cudaMemcpy(a.ctypes.data_as(P), p, ctypes.c_size_t(a.nbytes), 2))
        return a


x = rng.standard_normal(N).astype("f4")
code = np.sort(np.concatenate([np.tanh(np.linspace(-2.5, 2.5, 254)), [-1, 1]])).astype("f4")


def quantised(kind, values=x):
    """Codes and largest magnitudes, on the device."""
    with Memory() as m:
        size = N if kind == "" else N // 2
        table, a, most, out = m.put(code) if kind == "" else P(), m.put(values), m.new(4 * N // BLOCK), m.new(size)
        getattr(lib, "cquantize_blockwise_" + {"f4": "fp32", "f2": "fp16"}[values.dtype.str[1:]] + kind)(table, a, most, out, I(BLOCK), I(N))
        return m.get(out, size, "u1"), m.get(most, N // BLOCK, "f4")


def dequantised(kind, codes, most, dtype="f4"):
    with Memory() as m:
        table, a, s, out = m.put(code) if kind == "" else P(), m.put(codes), m.put(most), m.new(np.dtype(dtype).itemsize * N)
        getattr(lib, "cdequantize_blockwise_" + {"f4": "fp32", "f2": "fp16"}[dtype] + kind)(table, a, s, out, I(BLOCK), I(N), P())
        return m.get(out, N, dtype)


def nearest(table, values=x):
    """What the codes of a table are for: the nearest entry of each value, times the largest magnitude of its block."""
    b = values.reshape(-1, BLOCK)
    most = np.abs(b).max(1)
    return table[np.abs((b / most[:, None]).reshape(-1, 1) - table).argmin(1)] * np.repeat(most, BLOCK)


def round_trip(kind, dtype="f4"):
    codes, most = quantised(kind, x.astype(dtype))
    return dequantised(kind, codes, most, dtype).astype("f4")


client.case("int8_blocks", lambda: round_trip(""), lambda: nearest(code), 1e-6, group="quantise")
client.case("nf4_blocks", lambda: round_trip("_nf4"), lambda: nearest(NF4), 1e-6, group="quantise")
client.case("nf4_blocks_f16", lambda: round_trip("_nf4", "f2"), lambda: nearest(NF4, x.astype("f2").astype("f4")), 1e-3, group="quantise")

rows, inner = 128, 256
weights = x[:rows * inner]
vector = rng.standard_normal(inner).astype("f4")


def gemv():
    codes, most = quantised("_nf4")
    with Memory() as m:
        a, b, s, t, out = m.put(vector), m.put(codes), m.put(most), m.put(NF4), m.new(4 * rows)
        lib.cgemm_4bit_inference_naive_fp32(I(rows), I(1), I(inner), a, b, s, t, out, I(rows), I((inner + 1) // 2), I(rows), I(BLOCK), P())
        return m.get(out, rows, "f4")


client.case("nf4_product", gemv, lambda: nearest(NF4)[:rows * inner].reshape(rows, inner) @ vector, 1e-5, group="products")

half = rng.standard_normal((32, inner)).astype("f2")


def by_rows(a):
    most = np.abs(a.astype("f4")).max(1)
    return np.rint(a.astype("f4") * (127 / most)[:, None]).astype("i1"), most


def vector_quant():
    with Memory() as m:
        a, out, most = m.put(half), m.new(half.size), m.new(4 * len(half))
        lib.cint8_vector_quant(a, out, most, ctypes.c_float(0), I(len(half)), I(inner), P())
        return m.get(out, half.shape, "i1"), m.get(most, len(half), "f4")


client.case("int8_rows", vector_quant, lambda: by_rows(half), 1, group="quantise")  # of integers: the largest difference, in steps

ia, ib = rng.integers(-127, 128, (32, inner)).astype("i1"), rng.integers(-127, 128, (rows, inner)).astype("i1")
lib.get_context.restype = P


def int8_product():
    with Memory() as m:
        a, b, out = m.put(ia), m.put(ib), m.new(4 * 32 * rows)
        context = P(lib.get_context())
        # Column-major: out^T (rows x 32) is b (rows x inner) times a^T.
        if lib.cigemmlt_32(context, I(inner), I(32), I(rows), b, a, out, P(), I(inner), I(inner), I(rows), P()):
            raise RuntimeError("cigemmlt_32 failed")
        return m.get(out, (32, rows), "i4")


client.case("int8_product", int8_product, lambda: ia.astype("i4") @ ib.T.astype("i4"), 0, group="products")


def dequantised_product():
    product = ia.astype("i4") @ ib.T.astype("i4")
    with Memory() as m:
        a, r, c, out = m.put(product), m.put(np.full(32, 3, "f4")), m.put(np.full(rows, 2, "f4")), m.new(2 * product.size)
        lib.cdequant_mm_int32_fp16(a, r, c, out, P(), I(32), I(rows), P())
        return m.get(out, product.shape, "f2").astype("f4")


client.case("int8_product_scaled", dequantised_product, lambda: (ia.astype("f4") @ ib.T.astype("f4")) * (6 / 127**2), 1e-3, group="products")
