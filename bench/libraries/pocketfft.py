#!/usr/bin/env python3
"""SciPy's pocketfft on the rows of bench/libraries/fft.c, one thread: fft -rows | pocketfft.py [-cpu] > FILE, for fft -pocketfft FILE.

A line is a row's name, a tab and the least seconds of seven samples of about 10 ms."""
import sys
import time

import numpy
import scipy.fft

clock = time.process_time if "-cpu" in sys.argv[1:] else time.perf_counter
KINDS = {"c2c": ("complex64", scipy.fft.fftn), "z2z": ("complex128", scipy.fft.fftn), "r2c": ("float32", scipy.fft.rfftn),
         "d2z": ("float64", scipy.fft.rfftn), "c2r": ("complex64", scipy.fft.irfftn)}

for line in sys.stdin:
    name, kind, batch, lengths = line.rstrip("\n").split("\t")
    n = [int(v) for v in lengths.split()]
    dtype, transform = KINDS[kind]
    shape = [int(batch)] + n
    if kind == "c2r":
        shape[-1] = n[-1] // 2 + 1
    rng = numpy.random.default_rng(1)
    x = rng.standard_normal(shape).astype(dtype)
    if x.dtype.kind == "c":
        x += 1j * rng.standard_normal(shape).astype(x.real.dtype)
    axes = tuple(range(1, len(shape)))
    run = (lambda: transform(x, s=n, axes=axes, workers=1)) if kind == "c2r" else (lambda: transform(x, axes=axes, workers=1))

    def sample(times):
        start = clock()
        for _ in range(times):
            run()
        return (clock() - start) / times

    sample(1)
    times = max(1, int(0.01 / max(sample(1), 1e-7)))
    print("%s\t%.9g" % (name, min(sample(times) for _ in range(7))), flush=True)
