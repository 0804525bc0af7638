package testkit

import (
	"strings"
	"testing"
)

// TestAppVersions: every library says the version that its soname stands for, and the driver that of the newest.
func TestAppVersions(t *testing.T) {
	newApp(t, "interp", appProgram(t, "abi_versions", "-ldl")).run().want(t, `libcuda.so.1 cuDriverGetVersion 13040
libcudart.so.11.0 cudaRuntimeGetVersion 11080 cudaDriverGetVersion 13040
libcudart.so.12 cudaRuntimeGetVersion 12090 cudaDriverGetVersion 13040
libcudart.so.13 cudaRuntimeGetVersion 13040 cudaDriverGetVersion 13040
libcublas.so.11 cublasGetVersion_v2 111103 cublasGetProperty 11.11.3 cublasGetCudartVersion 11080
libcublasLt.so.11 cublasLtGetProperty 11.11.3 cublasLtGetVersion 111103 cublasLtGetCudartVersion 11080
libcublas.so.12 cublasGetVersion_v2 120900 cublasGetProperty 12.9.0 cublasGetCudartVersion 12090
libcublasLt.so.12 cublasLtGetProperty 12.9.0 cublasLtGetVersion 120900 cublasLtGetCudartVersion 12090
libcublas.so.13 cublasGetVersion_v2 130000 cublasGetProperty 13.0.0 cublasGetCudartVersion 13000
libcublasLt.so.13 cublasLtGetProperty 13.0.0 cublasLtGetVersion 130000 cublasLtGetCudartVersion 13000
libnvidia-ml.so.1 driver 615.71.09 nvml 13.615.71.09 cuda 13040
`)
}

// TestAppDriverVersion: the driver's version is the user's to choose; what is no version is said and not taken.
func TestAppDriverVersion(t *testing.T) {
	exe := appProgram(t, "abi_versions", "-ldl")
	for _, row := range []struct{ value, cuda, nvml, said string }{
		{"12.8", "12080", "570.26 nvml 12.570.26", ""},
		{"14.2", "14020", "615.71.09 nvml 14.615.71.09", ""},
		{"13", "13040", "615.71.09 nvml 13.615.71.09", "kudzu: KUDZU_DRIVER_VERSION=13: must be of the form 13.0, from 11.0 on"},
	} {
		r := newApp(t, "interp", exe).set("KUDZU_DRIVER_VERSION", row.value).run()
		out := lines(r.stdout)
		if len(out) != 11 || out[0] != "libcuda.so.1 cuDriverGetVersion "+row.cuda || out[10] != "libnvidia-ml.so.1 driver "+row.nvml+" cuda "+row.cuda ||
			!strings.HasSuffix(out[2], " cudaDriverGetVersion "+row.cuda) || strings.TrimSpace(r.stderr) != row.said {
			t.Errorf("%s: %q, %q", row.value, out, r.stderr)
		}
	}
}
