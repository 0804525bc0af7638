"""Numba-CUDA's own tests."""

import numba_cuda
from numba.cuda.testing import CUDATestCase

from suite import suite

CUDATestCase._dump_failed_filechecks = False  # an option of theirs for pytest, which is not in the package

if __name__ == "__main__":  # tests that start processes import this file again
    # The simulator's tests use no device, and benchmarks are none.
    suite("Numba-CUDA's own tests", numba_cuda.__version__, "numba.cuda.tests", lambda test: ".cudasim." not in test and ".benchmarks." not in test)
