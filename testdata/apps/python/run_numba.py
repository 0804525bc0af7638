# numba-cuda: kernels, shared memory, atomics, streams and events.
import numpy as np
from numba import cuda, float32
@cuda.jit
def saxpy(a, x, y):
    i = cuda.grid(1)
    if i < x.size:
        y[i] += a * x[i]
@cuda.jit
def total(x, out):
    s = cuda.shared.array(128, float32)
    t = cuda.threadIdx.x; i = cuda.grid(1)
    s[t] = x[i] if i < x.size else 0
    cuda.syncthreads()
    k = 64
    while k:
        if t < k: s[t] += s[t + k]
        cuda.syncthreads()
        k //= 2
    if t == 0: cuda.atomic.add(out, 0, s[0])
n = 10007
x = np.arange(n, dtype=np.float32); y = np.ones(n, dtype=np.float32)
dx, dy = cuda.to_device(x), cuda.to_device(y)
saxpy[(n + 127) // 128, 128](np.float32(2), dx, dy)
assert (dy.copy_to_host() == 2 * x + 1).all()
out = cuda.to_device(np.zeros(1, np.float32))
ones = cuda.to_device(np.ones(n, np.float32))
total[(n + 127) // 128, 128](ones, out)
assert out.copy_to_host()[0] == n
s = cuda.stream(); e0, e1 = cuda.event(), cuda.event()
e0.record(s); saxpy[80, 128, s](np.float32(1), dx, dy); e1.record(s); s.synchronize()
assert e0.elapsed_time(e1) >= 0
print("numba ok")
