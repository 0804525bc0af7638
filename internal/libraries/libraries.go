// Package libraries is the one list of what libraries above the driver and the runtime need before their first call: who else
// may do their work. What a library is, its names, files and result codes, is in its table (internal/spec/<library>.api).
package libraries

import (
	"fmt"
	"strconv"
	"strings"

	"kudzu/internal/backend/compare"
	"kudzu/internal/compile"
	"kudzu/internal/config"
	"kudzu/internal/logx"
	"kudzu/internal/shim/again"
	"kudzu/internal/shim/cublas"
	"kudzu/internal/shim/cublas/openblas"
	"kudzu/internal/shim/cublas/rocblas"
	"kudzu/internal/shim/cublaslt"
	"kudzu/internal/shim/cublaslt/hipblaslt"
	"kudzu/internal/shim/cudnn"
	"kudzu/internal/shim/cudnn/miopen"
	"kudzu/internal/shim/cudnn/nn"
	"kudzu/internal/shim/cudnn/onednn"
	"kudzu/internal/shim/cufft"
	"kudzu/internal/shim/cufft/rocfft"
	"kudzu/internal/shim/cusolver"
	"kudzu/internal/shim/cusolver/rocsolver"
	"kudzu/internal/shim/cusparse"
	"kudzu/internal/shim/cusparse/rocsparse"
	"kudzu/internal/shim/lto"
	"kudzu/internal/shim/nccl"
	"kudzu/internal/shim/nccl/rccl"
	"kudzu/internal/shim/nccl/ucx"
	"kudzu/internal/shim/nvjitlink"
	"kudzu/internal/shim/nvrtc"
	"kudzu/internal/shim/nvvm"
)

// starts has a line for each library that needs something. Nothing is opened by them.
var starts = []func(*compile.Client){
	func(*compile.Client) { startCublas() },
	func(*compile.Client) { startCudnn() },
	func(*compile.Client) { cufft.Use(rocfft.New(rocfft.Config{})) },
	func(*compile.Client) { cusparse.Use(rocsparse.New(rocsparse.Config{})) },
	func(*compile.Client) { cublaslt.Use(hipblaslt.New(hipblaslt.Config{})) },
	func(*compile.Client) { startNCCL() },
	func(c *compile.Client) { nvvm.Use(c) },
	func(c *compile.Client) { nvjitlink.Use(c) },
	func(c *compile.Client) { nvrtc.Use(c) },
	func(c *compile.Client) { lto.Use(c) },
}

// Start runs them, at the first call of a program, when the driver has its devices.
func Start(compiler *compile.Client) {
	for _, start := range starts {
		start(compiler)
	}
}

// startNCCL names the transports between hosts, and the library of AMD's GPUs. UCX is looked for when the first connection is made, RCCL
// when the first rank on such a GPU is.
func startNCCL() {
	nccl.Vendors.Add(rccl.New(rccl.Config{}))
	nccl.Transports.Add(nccl.Transport{Name: "UCX", Ready: ucx.Available, First: ucx.HasRDMA, Open: func(fd int, beside func() (bool, error)) (nccl.Link, error) {
		return ucx.Open(fd, beside)
	}})
}

// startCublas names the providers of cuBLAS and of cuSOLVER, which works with handles of theirs. What KUDZU_BLAS names does its products: cpu (our kernels, the default), ref,
// openblas, or the path of a library with BLAS's Fortran names.
func startCublas() {
	blas := rocblas.New(rocblas.Config{})
	cublas.Use(blas)
	cusolver.Use(rocsolver.New(rocsolver.Config{BLAS: blas}))
	cublas.UseRoutine(openblas.Call)
	threads, _ := strconv.Atoi(config.Get(config.Threads))
	multiplier := func(setting string) cublas.Multiplier {
		switch name := config.Get(setting); {
		case name == "" || name == "cpu":
		case name == "ref":
			return cublas.Reference{}
		case name == "openblas":
			return openblas.New(openblas.Config{Threads: threads})
		case strings.Contains(name, "/"):
			return openblas.New(openblas.Config{Library: name, Threads: threads})
		default:
			logx.Warnf("%s=%s: not one of cpu, ref, openblas, or a path", setting, name)
		}
		return nil
	}
	cublas.UseMultiplier(multiplier(config.BLAS))
	if m := multiplier(config.CompareLibraries); m != nil {
		if m != (cublas.Reference{}) {
			cublas.CheckWith(m)
		}
		r := compare.NewReporter(config.Get(config.CompareReport))
		limits, err := compare.ParseLimits(config.Get(config.Compare))
		if err != nil { // it is said where launches are compared
			limits, _ = compare.ParseLimits("1")
		}
		again.Use(&again.Checker{Tell: func(c *again.Result) { r.Add(callLine(c)) }, Most: limits.Launches})
	}
}

// startCudnn names the library of AMD's GPUs, and what KUDZU_DNN names on the CPU: cpu (our kernels, the default), onednn, or the path of
// that library.
func startCudnn() {
	cudnn.Use(miopen.New(miopen.Config{}))
	threads, _ := strconv.Atoi(config.Get(config.Threads))
	switch name := config.Get(config.DNN); {
	case name == "" || name == "cpu":
	case name == "onednn":
		nn.UseLibrary(onednn.New(onednn.Config{Threads: threads}))
	case strings.Contains(name, "/"):
		nn.UseLibrary(onednn.New(onednn.Config{Library: name, Threads: threads}))
	default:
		logx.Warnf("%s=%s: not one of cpu, onednn, or a path", config.DNN, name)
	}
}

// callLine is a line of a comparison's report about a call of a library.
func callLine(c *again.Result) *compare.Line {
	what := c.Library + " " + c.What
	l := &compare.Line{Kernel: what, Text: what + " with " + c.With, Outcome: compare.Same, Touched: 1}
	switch {
	case c.Skipped != "":
		l.Outcome, l.Why, l.Touched = compare.Skipped, c.Skipped, 0
	case c.Differs():
		l.Outcome = compare.Different
		l.Why = fmt.Sprintf("%s: %v, %s has %v: %.3g apart, at most %.3g is explained", place(c), c.Got, c.With, c.Want, c.Off, c.Bound)
	case c.Got != c.Want:
		l.Outcome, l.Why = compare.Explained, fmt.Sprintf("rounding and the order of sums in calls of libraries: %.3g apart, at most %.3g", c.Off, c.Bound)
	}
	return l
}

// place is where a call's number is: matrix 0, row 3, column 5.
func place(c *again.Result) string {
	var parts []string
	for i, axis := range strings.Fields(c.Axes) {
		parts = append(parts, fmt.Sprintf("%s %d", axis, c.At[i]))
	}
	return strings.Join(parts, ", ")
}
