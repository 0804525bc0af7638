"""Extensions of PyTorch in CUDA C++, built by torch.utils.cpp_extension with our nvcc, each case against PyTorch's CPU functions.

The Python needs torch (for CUDA), ninja and setuptools. Tensors come from the host: PyPI's builds of PyTorch have machine code only,
so that none of its own kernels is used."""

import os
import sys
import tempfile

import torch
from torch.utils import cpp_extension

from rows import Client

client = Client("PyTorch's cpp_extension", torch.__version__, source="Debian 13" if "debian" in torch.__version__ else "PyPI")
torch.manual_seed(1)
built = {}

CUDA = r"""
#include <torch/extension.h>
#include <ATen/cuda/CUDAContext.h>
#include <c10/cuda/CUDAException.h>
#include <c10/cuda/CUDAGuard.h>

template <typename T> __global__ void axpy_kernel(const T *x, const T *y, T *out, float a, int64_t n) {
	for (int64_t i = blockIdx.x * int64_t(blockDim.x) + threadIdx.x; i < n; i += int64_t(gridDim.x) * blockDim.x)
		out[i] = static_cast<T>(a * static_cast<float>(x[i]) + static_cast<float>(y[i]));
}

torch::Tensor axpy(torch::Tensor x, torch::Tensor y, double a) {
	TORCH_CHECK(x.is_cuda() && x.is_contiguous() && y.is_contiguous(), "x and y must be contiguous CUDA tensors");
	const c10::cuda::CUDAGuard guard(x.device());
	auto out = torch::empty_like(x);
	AT_DISPATCH_FLOATING_TYPES_AND2(at::kHalf, at::kBFloat16, x.scalar_type(), "axpy", [&] {
		axpy_kernel<scalar_t><<<4, 128, 0, at::cuda::getCurrentCUDAStream()>>>(
			x.data_ptr<scalar_t>(), y.data_ptr<scalar_t>(), out.data_ptr<scalar_t>(), float(a), x.numel());
	});
	C10_CUDA_KERNEL_LAUNCH_CHECK();
	return out;
}

__global__ void rows_kernel(torch::PackedTensorAccessor32<float, 2, torch::RestrictPtrTraits> x,
							torch::PackedTensorAccessor32<float, 1, torch::RestrictPtrTraits> out) {
	__shared__ float part[128];
	float s = 0;
	for (int c = threadIdx.x; c < x.size(1); c += blockDim.x)
		s += x[blockIdx.x][c];
	part[threadIdx.x] = s;
	__syncthreads();
	for (int k = 64; k > 0; k /= 2) {
		if (threadIdx.x < k)
			part[threadIdx.x] += part[threadIdx.x + k];
		__syncthreads();
	}
	if (threadIdx.x == 0)
		out[blockIdx.x] = part[0];
}

torch::Tensor rows(torch::Tensor x) {
	auto out = torch::empty({x.size(0)}, x.options());
	rows_kernel<<<x.size(0), 128>>>(x.packed_accessor32<float, 2, torch::RestrictPtrTraits>(),
									out.packed_accessor32<float, 1, torch::RestrictPtrTraits>());
	C10_CUDA_KERNEL_LAUNCH_CHECK();
	return out;
}
"""

CPP = "torch::Tensor axpy(torch::Tensor x, torch::Tensor y, double a);\ntorch::Tensor rows(torch::Tensor x);"
FILES = {
    "add.cuh": "__device__ float add(float a, float b);",
    "add.cu": '#include "add.cuh"\n__device__ float add(float a, float b) { return a + b; }',
    "main.cu": '#include <torch/extension.h>\n#include "add.cuh"\n'
    "__global__ void k(const float *x, float *y, int n) { int i = blockIdx.x * blockDim.x + threadIdx.x; if (i < n) y[i] = add(x[i], 1); }\n"
    "torch::Tensor inc(torch::Tensor x) { auto y = torch::empty_like(x); k<<<(x.numel() + 63) / 64, 64>>>(x.data_ptr<float>(), y.data_ptr<float>(), x.numel()); return y; }",
    "one.cu": '#include "add.cu"\n#include "main.cu"',
    "module.cpp": "#include <torch/extension.h>\ntorch::Tensor inc(torch::Tensor x);\nPYBIND11_MODULE(TORCH_EXTENSION_NAME, m) { m.def(\"inc\", &inc); }",
}


def folder(files):
    """A new folder with these files."""
    at = tempfile.mkdtemp()
    for name, text in files.items():
        with open(os.path.join(at, name), "w", encoding="utf-8") as f:
            f.write(text)
    return at


def inline():
    """load_inline: one source, half types, accessors."""
    return cpp_extension.load_inline("kudzu_inline", CPP, CUDA, functions=["axpy", "rows"], build_directory=tempfile.mkdtemp())


def load():
    """load: files, with options for nvcc."""
    at = folder(FILES)
    sources = [os.path.join(at, "module.cpp"), os.path.join(at, "one.cu")]
    return cpp_extension.load("kudzu_load", sources, extra_cuda_cflags=["-O2", "--use_fast_math", "-lineinfo"], build_directory=tempfile.mkdtemp())


def setup():
    """CUDAExtension: files in a folder, device code of two of them linked (-dlink), built by setuptools."""
    os.chdir(folder(FILES))
    from setuptools import setup as run

    ext = cpp_extension.CUDAExtension(
        "kudzu_setup", ["module.cpp", "main.cu", "add.cu"], dlink=True, dlink_libraries=["cudadevrt"], extra_compile_args={"cxx": ["-O1"], "nvcc": ["-O2", "-rdc=true"]}
    )
    run(name="kudzu_setup", ext_modules=[ext], cmdclass={"build_ext": cpp_extension.BuildExtension}, script_args=["-q", "build_ext", "--inplace"])
    sys.path.insert(0, os.getcwd())
    import kudzu_setup

    return kudzu_setup


def of(build):
    """The module of a way to build, built once: it is part of the first run of the first case."""
    if build not in built:
        built[build] = build()
    return built[build]


for dtype, bound in (torch.float32, 1e-6), (torch.float64, 1e-6), (torch.float16, 2e-3), (torch.bfloat16, 2e-2):
    x, y = torch.randn(1000, dtype=torch.float64).to(dtype), torch.randn(1000, dtype=torch.float64).to(dtype)
    client.case(
        f"load_inline, {str(dtype).partition('.')[2]}",
        lambda x=x, y=y: of(inline).axpy(x.cuda(), y.cuda(), 2.5).cpu(),
        lambda x=x, y=y: 2.5 * x + y,
        bound,
        group="load_inline",
    )
m = torch.randn(7, 1000)
client.case("load_inline, accessors", lambda: of(inline).rows(m.cuda()).cpu(), lambda: m.sum(1), 1e-6, group="load_inline")
n = torch.arange(1000, dtype=torch.float32)
client.case("load, options for nvcc", lambda: of(load).inc(n.cuda()).cpu(), lambda: n + 1, group="load")
client.case("CUDAExtension, device code linked", lambda: of(setup).inc(n.cuda()).cpu(), lambda: n + 1, group="CUDAExtension")
