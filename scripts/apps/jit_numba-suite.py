"""Numba-CUDA's own tests."""

import numba_cuda

from suite import suite

# The simulator's tests use no device, and benchmarks are none.
suite("Numba-CUDA's own tests", numba_cuda.__version__, "numba.cuda.tests", lambda test: ".cudasim." not in test and ".benchmarks." not in test)
