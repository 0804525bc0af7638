// Package libraries is the one list of what libraries above the driver and the runtime need before their first call: who else
// may do their work. What a library is, its names, files and result codes, is in its table (internal/spec/<library>.api).
package libraries

import (
	"strconv"
	"strings"

	"kudzu/internal/compile"
	"kudzu/internal/config"
	"kudzu/internal/logx"
	"kudzu/internal/shim/cublas"
	"kudzu/internal/shim/cublas/openblas"
	"kudzu/internal/shim/cublas/rocblas"
	"kudzu/internal/shim/cublaslt"
	"kudzu/internal/shim/cublaslt/hipblaslt"
	"kudzu/internal/shim/nvjitlink"
	"kudzu/internal/shim/nvrtc"
	"kudzu/internal/shim/nvvm"
)

// starts has a line for each library that needs something. Nothing is opened by them.
var starts = []func(*compile.Client){
	func(*compile.Client) { startCublas() },
	func(*compile.Client) { cublaslt.Use(hipblaslt.New(hipblaslt.Config{})) },
	func(c *compile.Client) { nvvm.Use(c) },
	func(c *compile.Client) { nvjitlink.Use(c) },
	func(c *compile.Client) { nvrtc.Use(c) },
}

// Start runs them, at the first call of a program, when the driver has its devices.
func Start(compiler *compile.Client) {
	for _, start := range starts {
		start(compiler)
	}
}

// startCublas names the providers of cuBLAS. What KUDZU_BLAS names does its products: cpu (our kernels, the default), ref,
// openblas, or the path of a library with BLAS's Fortran names.
func startCublas() {
	cublas.Use(rocblas.New(rocblas.Config{}))
	threads, _ := strconv.Atoi(config.Get(config.Threads))
	switch name := config.Get(config.BLAS); {
	case name == "" || name == "cpu":
	case name == "ref":
		cublas.UseMultiplier(cublas.Reference{})
	case name == "openblas":
		cublas.UseMultiplier(openblas.New(openblas.Config{Threads: threads}))
	case strings.Contains(name, "/"):
		cublas.UseMultiplier(openblas.New(openblas.Config{Library: name, Threads: threads}))
	default:
		logx.Warnf(config.BLAS+"=%s: not one of cpu, ref, openblas, or a path", name)
	}
}
