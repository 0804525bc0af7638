# tinygrad with its PTX renderer: a product, a reduction, random numbers, against numpy.
from tinygrad import Tensor, dtypes
a = Tensor.rand(32, 48); b = Tensor.rand(48, 16)
c = (a @ b).relu().sum(axis=1)
import numpy as np
w = np.maximum(a.numpy() @ b.numpy(), 0).sum(1)
assert np.allclose(c.numpy(), w, rtol=1e-4), (c.numpy(), w)
x = Tensor.arange(1000).cast(dtypes.float32)
assert abs(x.sum().item() - 499500) < 1
print("tinygrad ok")
