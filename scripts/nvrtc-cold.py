#!/usr/bin/env python3
"""Times the first compilation of a new process by NVRTC, dlopen included: Kudzu's and NVIDIA's in turn.

  scripts/nvrtc-cold.py THEIRS [OURS] [TURNS]

THEIRS is NVIDIA's libnvrtc.so (PyPI: nvidia-cuda-nvrtc), OURS Kudzu's of the same release (dist/lib). Each turn is a process
of its own. Rows are a vector addition and a kernel of 500 lines, without Kudzu's cache of results (its precompiled
prelude stays, as NVIDIA's has its own inside) and from it. Times are the least and the median, in milliseconds."""

import ctypes
import json
import os
import statistics
import subprocess
import sys
import tempfile
import time

ADD = """extern "C" __global__ void add(const float *a, const float *b, float *c, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) c[i] = a[i] + b[i];
}
"""


def long_kernel(lines=500):
    """Arithmetic, branches, shared memory and math functions, some of each in turn."""
    body = [
        "x = x * 1.5f + p[(i + {0}) % n];",
        "if (x > {0}.0f) x -= sqrtf(fabsf(x)); else x += {0}.5f;",
        "s[threadIdx.x] = x; __syncthreads(); x += s[(threadIdx.x + {0}) % 256]; __syncthreads();",
        "for (int k = 0; k < (i & 7); k++) x = fmaf(x, 0.25f, (float)(k ^ {0}));",
        "x += expf(-x * x) * {0}.0f;",
        "v ^= __float_as_uint(x) + {0}u; x += (float)(v >> 9);",
    ]
    text = ["__device__ float turn(float x, int i) { return x * (float)i + 1.0f; }", 'extern "C" __global__ void long_kernel(float *p, int n) {', "__shared__ float s[256];", "int i = blockIdx.x * blockDim.x + threadIdx.x;", "float x = turn(p[i % n], i); unsigned v = i;"]
    text += [body[k % len(body)].format(k) for k in range(lines - len(text) - 2)]
    return "\n".join([*text, "p[i % n] = x + (float)v;", "}"])


def one(path, source):
    """Compiles once and prints how long it took."""
    begin = time.perf_counter()
    lib = ctypes.CDLL(path)
    program, size = ctypes.c_void_p(), ctypes.c_size_t()
    options = (ctypes.c_char_p * 1)(b"--gpu-architecture=compute_80")
    rcs = [lib.nvrtcCreateProgram(ctypes.byref(program), source.encode(), b"cold.cu", 0, None, None), lib.nvrtcCompileProgram(program, 1, options), lib.nvrtcGetPTXSize(program, ctypes.byref(size))]
    text = ctypes.create_string_buffer(size.value)
    rcs.append(lib.nvrtcGetPTX(program, text))
    took = time.perf_counter() - begin
    if any(rcs) or b".entry" not in text.raw:
        sys.exit(f"nvrtc-cold: {path}: {rcs}")
    print(took)


def turn(path, source, **env):
    """One process; its time in milliseconds."""
    r = subprocess.run([sys.executable, __file__, "one", path], input=source, text=True, capture_output=True, env={**os.environ, "LD_LIBRARY_PATH": os.path.dirname(path), **env}, check=False)
    if r.returncode:
        sys.exit(r.stderr)
    return float(r.stdout) * 1000


def main(theirs, ours="dist/lib/libnvrtc.so.13", turns="15"):
    with tempfile.TemporaryDirectory() as cache:
        for name, source in (("vector add", ADD), ("500 lines", long_kernel())):
            times = {"theirs": [], "ours": [], "cached": []}
            for n in range(-1, int(turns)):
                fresh = f"// {os.getpid()} {n}\n" + source  # the cache has no result for it
                for kind, path in (("theirs", theirs), ("ours", ours), ("cached", ours)):
                    ms = turn(os.path.abspath(path), fresh, KUDZU_CACHE_DIR=cache)
                    if n >= 0:  # the first turn reads files, and makes the prelude
                        times[kind].append(ms)
            row = {"row": name, **{f"{k}_{what}": round(f(v), 2) for k, v in times.items() for what, f in (("least", min), ("median", statistics.median))}}
            row["least_ratio"], row["median_ratio"] = (round(row[f"ours_{w}"] / row[f"theirs_{w}"], 2) for w in ("least", "median"))
            print(json.dumps(row), flush=True)


if __name__ == "__main__":
    if sys.argv[1:2] == ["one"]:
        one(sys.argv[2], sys.stdin.read())
    else:
        main(*sys.argv[1:])
