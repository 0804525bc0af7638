"""How long clients take to start: a new process that imports the client and does one operation, from a warm cache.

The same on the client's CPU path is a process without Kudzu: nothing of ours is loaded into it. Only Debian's PyTorch wants libraries
that are not installed beside it (cuDNN), so its CPU path has ours. CLIENT is start@NAME."""

import os
import shutil
import subprocess
import sys
from importlib import metadata

from rows import Client

# name: the client's name in its other rows, its module, where it is from, the operation on Kudzu, the same on the CPU
TORCH = "import torch; print((torch.ones(1000, device='{}') + 1).sum().item())"
JAX = "import jax.numpy as np; print((np.ones(1000) + 1).sum())"
TENSORFLOW = "import tensorflow as tf; print(tf.reduce_sum(tf.ones(1000) + 1).numpy())"
CUPY = "import {} as np; print((np.ones(1000) + 1).sum())"
STARTS = {
    "torch": ("torch-ops", "torch", "Debian 13", TORCH.format("cuda"), TORCH.format("cpu")),
    "jax": ("JAX", "jax", "PyPI", JAX, JAX),
    "jax-debian13": ("JAX", "jax", "PyPI, Debian 13", JAX, JAX),
    "tensorflow": ("TensorFlow", "tensorflow", "PyPI", TENSORFLOW, TENSORFLOW),
    "cupy": ("CuPy", "cupy-cuda12x", "PyPI", CUPY.format("cupy"), CUPY.format("numpy")),
}
# What kudzu run sets: the CPU path has none of it. The other variables keep clients from looking for a GPU.
OURS = ("LD_AUDIT", "LD_PRELOAD", "LD_LIBRARY_PATH", "CUDA_PATH", "CUDA_ROOT", "CUDA_HOME", "XLA_FLAGS", "TRITON_PTXAS_PATH", "TRITON_PTXAS_BLACKWELL_PATH", "NVTX_INJECTION64_PATH")
TURNS = 3


def process(command, env):
    done = subprocess.run(command, env=env, capture_output=True, text=True)
    if done.returncode or not done.stdout.strip().endswith("2000.0"):
        raise RuntimeError(f"{done.returncode}: {done.stdout} {done.stderr[-300:]}")


def main():
    name, module, source, on_kudzu, on_cpu = STARTS[os.environ["CLIENT"].partition("@")[2]]
    version = metadata.version(module)
    if module == "torch":  # Debian's metadata has not all of it
        import torch

        version = torch.__version__
    plain = {k: v for k, v in os.environ.items() if k not in OURS and not k.startswith("KUDZU_")}
    plain |= {"JAX_PLATFORMS": "cpu", "CUDA_VISIBLE_DEVICES": "-1"}
    if module == "torch":
        plain["LD_LIBRARY_PATH"] = os.path.join(os.path.dirname(os.path.dirname(shutil.which("kudzu"))), "lib")
    client = Client(name, version, source=source)
    client.figure(f"import {module}, one operation", lambda: process(["kudzu", "run", "--", sys.executable, "-c", on_kudzu], dict(os.environ)),
                  lambda: process([sys.executable, "-c", on_cpu], plain), group="import and first operation", turns=TURNS)


main()
