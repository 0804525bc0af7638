package main

// house is one interface: the names its generated parts have, and who answers it.
type house struct {
	api  string // the table, internal/spec/<api>.api
	pkg  string // package of its Go types, internal/spec/<pkg>
	doc  string // what it is, for the package comment
	recv string // package whose type Thread has the methods

	header, macro string // the C header, and the macro that chooses the version in it

	prefixes []string // what a C name has before the method's name

	// Functions of package bind: an error, and a null pointer where a result must go, as a result code.
	code, refuse string

	errors, errorArray string // the enumeration of result codes, and the C array of its texts
}

// houses are all interfaces. Their order is the order of the numbers stubs give the door.
var houses = []house{
	{"cuda", "cu", "the CUDA driver API", module + "/internal/driver", "cuda.h", "CUDA_VERSION",
		[]string{"cu"}, "code(err)", "refuse(thread)", "CUresult", "driver"},
	{"cudart", "rt", "the CUDA runtime API", module + "/internal/cudart", "cuda_runtime_api.h", "CUDART_VERSION",
		[]string{"cuda"}, "runtimeCode(err)", "refuseRuntime()", "cudaError_t", "runtime"},
	{"cublas", "blas", "cuBLAS", module + "/internal/shim/cublas", "cublas_v2.h", "CUDART_VERSION",
		[]string{"cublas"}, "blasCode(err)", "refuseBlas()", "cublasStatus_t", "blas"},
	{"cublaslt", "lt", "cuBLASLt", module + "/internal/shim/cublaslt", "cublasLt.h", "CUDART_VERSION",
		[]string{"cublasLt"}, "blasCode(err)", "refuseBlas()", "", ""},
	{"nvml", "nv", "NVML", module + "/internal/shim/nvml", "nvml.h", "CUDART_VERSION",
		[]string{"nvml"}, "nvmlCode(err)", "refuseNvml()", "nvmlReturn_t", "nvml"},
}

func houseOf(api string) house {
	for _, h := range houses {
		if h.api == api {
			return h
		}
	}
	panic("BUG: no house for " + api + ".api")
}
