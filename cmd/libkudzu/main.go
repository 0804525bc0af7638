// Command libkudzu is the one Go image: a shared library that libkudzu-base.so loads at
// the first CUDA call that needs it. Only wiring lives here.
package main

import (
	"math"
	"os"
	"runtime"
	"runtime/debug"
	"strconv"
	"strings"
	"unsafe"

	"kudzu/internal/abi"
	"kudzu/internal/bind"
	"kudzu/internal/config"
	"kudzu/internal/cudart"
	"kudzu/internal/devices"
	"kudzu/internal/driver"
	"kudzu/internal/logx"
	"kudzu/internal/shim/cublas"
	"kudzu/internal/shim/cublas/openblas"
	"kudzu/internal/shim/cublas/rocblas"
	"kudzu/internal/shim/cublaslt"
	"kudzu/internal/shim/cublaslt/hipblaslt"
)

// A c-shared library has no main, so this is the only place that can hand the door its handlers.
func init() {
	ended := func(t unsafe.Pointer) { driver.ThreadEnded((*driver.Thread)(t).ID) }
	abi.Serve(abi.House{Start: start, Handlers: bind.Handlers[:], ThreadEnded: ended, Report: bind.Report})
}

// start runs at the first call, on its thread: no work is done while the loader holds its lock.
func start() error {
	abi.HostEnv()
	// The host's GOGC, GOMEMLIMIT and GOMAXPROCS are meant for the host. Kernels run on the
	// engine's own threads; Go needs few.
	debug.SetGCPercent(100)
	debug.SetMemoryLimit(math.MaxInt64)
	runtime.GOMAXPROCS(min(runtime.NumCPU(), 8))
	driver.Start(devices.All(devices.Config{}), abi.CallOut, abi.CallBack, abi.CallQuiet)
	cublas.Use(rocblas.New(rocblas.Config{}))
	useMultiplier(os.Getenv(config.BLAS))
	cublaslt.Use(hipblaslt.New(hipblaslt.Config{}))
	cudart.Start(abi.Noted(), func(buf []cudart.Note) int { return abi.TakeNotes(unsafe.Pointer(&buf[0]), len(buf)) })
	return nil
}

// useMultiplier lets what KUDZU_BLAS names do cuBLAS's products: cpu (our kernels, the default), ref, openblas, or the path of a library
// with BLAS's Fortran names.
func useMultiplier(name string) {
	threads, _ := strconv.Atoi(os.Getenv(config.Threads))
	switch {
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

func main() {}
