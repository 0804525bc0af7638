package main

import (
	"fmt"
	"strings"
)

// guards are macros that NVIDIA's headers define when they are read. Programs ask by them what has been included, before they name its
// types: "#ifdef CUBLAS_API_H_", "#ifdef CUSPARSEAPI".
var guards = map[string]string{
	"cuda.h":              "__cuda_cuda_h__",
	"cuda_runtime_api.h":  "__CUDA_RUNTIME_API_H__ __HOST_DEFINES_H__ __BUILTIN_TYPES_H__ __DEVICE_TYPES_H__ __DRIVER_TYPES_H__ __SURFACE_TYPES_H__ __TEXTURE_TYPES_H__ __VECTOR_TYPES_H__ __LIBRARY_TYPES_H__",
	"cuda_runtime.h":      "__CUDA_RUNTIME_H__",
	"cuda_profiler_api.h": "__CUDA_PROFILER_API_H__",
	"cublas_v2.h":         "CUBLAS_V2_H_ CUBLAS_API_H_ CUBLASAPI",
	"cublasXt.h":          "CUBLAS_XT_H_",
	"cufft.h":             "_CUFFT_H_ CUFFTAPI",
	"cufftXt.h":           "_CUFFTXT_H_",
	"cusparse.h":          "CUSPARSE_H_ CUSPARSEAPI",
	"cusolver_common.h":   "CUSOLVER_COMMON_H_ CUSOLVERAPI",
	"cusolverDn.h":        "CUSOLVERDN_H_",
	"cusolverSp.h":        "CUSOLVERSP_H_",
	"cusolverRf.h":        "CUSOLVERRF_H_",
	"cusolverMg.h":        "CUSOLVERMG_H_",
	"curand.h":            "CURAND_H_ CURANDAPI",
	"cudnn.h":             "CUDNN_H_ CUDNNWINAPI",
	"nccl.h":              "NCCL_H_",
	"nvml.h":              "__nvml_nvml_h__",
	"nvrtc.h":             "__NVRTC_H__",
}

// libraryVersions are the macros in which a library's header says its version, beside CUDA's own: what they begin with, the factor
// between the parts of the whole number, and the parts, in CUDA 12 and in 13.
var libraryVersions = map[string]struct {
	name           string
	major          int
	before, latest [3]int
}{
	"cublas_v2.h":       {"CUBLAS", 10000, [3]int{12, 9, 0}, [3]int{13, 0, 0}},
	"cufft.h":           {"CUFFT", 1000, [3]int{11, 4, 1}, [3]int{12, 0, 0}},
	"cusparse.h":        {"CUSPARSE", 1000, [3]int{12, 6, 3}, [3]int{12, 6, 3}},
	"cusolver_common.h": {"CUSOLVER", 1000, [3]int{12, 0, 4}, [3]int{12, 0, 4}},
	"curand.h":          {"CURAND", 1000, [3]int{10, 4, 0}, [3]int{10, 4, 0}},
}

// defines are the lines of a header that define its guards, and its version.
func defines(file string) string {
	var b strings.Builder
	for _, m := range strings.Fields(guards[file]) {
		fmt.Fprintf(&b, "#ifndef %s\n#define %[1]s\n#endif\n", m)
	}
	v, ok := libraryVersions[file]
	if !ok {
		return b.String()
	}
	parts := func(p [3]int) {
		for i, part := range []string{"MAJOR", "MINOR", "PATCH"} {
			fmt.Fprintf(&b, "#define %s_VER_%s %d\n", v.name, part, p[i])
		}
	}
	if v.before != v.latest {
		b.WriteString("#if defined(CUDART_VERSION) && CUDART_VERSION < 13000\n")
		parts(v.before)
		b.WriteString("#else\n")
	}
	parts(v.latest)
	if v.before != v.latest {
		b.WriteString("#endif\n")
	}
	fmt.Fprintf(&b, "#define %s_VER_BUILD 0\n#define %[1]s_VERSION (%[1]s_VER_MAJOR * %d + %[1]s_VER_MINOR * 100 + %[1]s_VER_PATCH)\n", v.name, v.major)
	return b.String()
}
