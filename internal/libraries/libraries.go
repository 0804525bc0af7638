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
	if m := multiplier(config.CompareBLAS); m != nil {
		r := compare.NewReporter(config.Get(config.CompareReport))
		cublas.UseChecker(m, func(c *cublas.Checked) { r.Add(productLine(c)) })
	}
}

// productLine is a line of a comparison's report about a product.
func productLine(c *cublas.Checked) *compare.Line {
	l := &compare.Line{Kernel: "product " + c.What, Text: "product " + c.What + " with " + c.With, Outcome: compare.Same, Touched: 1}
	switch {
	case c.Skipped != "":
		l.Outcome, l.Why, l.Touched = compare.Skipped, c.Skipped, 0
	case c.Differs():
		l.Outcome = compare.Different
		l.Why = fmt.Sprintf("matrix %d, row %d, column %d: %v, %s has %v: %.3g apart, at most %.3g is explained", c.At[0], c.At[1], c.At[2], c.Product, c.With, c.Other, c.Off, c.Bound)
	case c.Product != c.Other:
		l.Outcome, l.Why = compare.Explained, fmt.Sprintf("the order of sums in matrix products: %.3g apart, at most %.3g", c.Off, c.Bound)
	}
	return l
}
