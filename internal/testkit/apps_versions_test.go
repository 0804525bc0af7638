package testkit

import "testing"

// TestAppVersions: every library says the version that its soname stands for, and the driver that of the newest.
func TestAppVersions(t *testing.T) {
	newApp(t, "interp", appProgram(t, "abi_versions", "-ldl")).run().want(t, `libcuda.so.1 cuDriverGetVersion 13000
libcudart.so.11.0 cudaRuntimeGetVersion 11080 cudaDriverGetVersion 13000
libcudart.so.12 cudaRuntimeGetVersion 12090 cudaDriverGetVersion 13000
libcudart.so.13 cudaRuntimeGetVersion 13000 cudaDriverGetVersion 13000
libcublas.so.12 cublasGetVersion_v2 120900 cublasGetProperty 12.9.0 cublasGetCudartVersion 12090
libcublasLt.so.12 cublasLtGetProperty 12.9.0 cublasLtGetVersion 120900 cublasLtGetCudartVersion 12090
libcublas.so.13 cublasGetVersion_v2 130000 cublasGetProperty 13.0.0 cublasGetCudartVersion 13000
libcublasLt.so.13 cublasLtGetProperty 13.0.0 cublasLtGetVersion 130000 cublasLtGetCudartVersion 13000
libnvidia-ml.so.1 driver 580.65.06 nvml 13.580.65.06 cuda 13000
`)
}
