"""CuPy's own tests of what is CUDA, by pytest, as rows, one a test: its bindings, compilers and caches of code, kernels of
users, cupyx.jit.

The packages on PyPI have no tests: git fetches the release that is installed, to $KUDZU_APPS/cupy. A tree that is there
already is used, for machines without a way to the repository."""

import os
import subprocess
import sys

import cupy

from pytest_rows import run
from rows import AGAIN, Client

# Without those that CuPy marks as slow: jitify, for which a first program is hundreds of compilations, and
# arrays of 8 GiB. Tests of arrays are thousands, and of CuPy's own arithmetic: these are those that name CUDA.
PARTS = ["cupy_tests/cuda_tests", "cupy_tests/core_tests/test_raw.py", "cupy_tests/core_tests/test_userkernel.py",
         "cupy_tests/core_tests/test_include.py", "cupyx_tests/jit_tests", "cupy_tests/core_tests/test_cub_reduction.py",
         "cupy_tests/core_tests/test_carray.py"]


def main():
    """Runs the first part that is not done."""
    client = Client("CuPy's own tests", cupy.__version__, suite=True)
    at = os.path.join(os.environ["KUDZU_APPS"], "cupy", "v" + cupy.__version__)
    if not os.path.exists(at):
        subprocess.run(["git", "clone", "-q", "--depth", "1", "--branch", os.path.basename(at), "https://github.com/cupy/cupy", at], check=True)
    os.chdir(os.path.join(at, "tests"))
    part = next((p for p in PARTS if p not in client.done), None)
    if part is None:
        return
    if not run(client, "cupy", sys.argv[1:] or ["-m", "not slow", part], cupy.cuda.runtime.deviceSynchronize):
        if sys.argv[1:]:
            return
        client.write(case=part, status="module", launches=0)
    sys.stdout.flush()
    os._exit(AGAIN)


if __name__ == "__main__":  # tests that start processes import this file again
    main()
