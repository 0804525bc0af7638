package cudacc

import (
	"fmt"
	"path/filepath"
	"strconv"
	"strings"
)

// Compiler is what a program like nvcc asks clang for, in the spelling of clang's driver, which finds the machine's C++ library.
type Compiler struct {
	Options
	Archs   []string // all that are compiled for: "80", "90a"
	Lambdas bool     // --extended-lambda
	Relaxed bool     // --expt-relaxed-constexpr
	Unit    string   // names the source among those that are linked together
	Streams bool     // -default-stream per-thread
}

// onlyWarned is what clang refuses by itself, and nvcc with gcc takes with a warning or without.
var onlyWarned = []string{"register", "c++11-narrowing", "reserved-user-defined-literal", "missing-template-arg-list-after-template-kw"}

// both are the arguments of both sides.
func (c *Compiler) both(p *Place) []string {
	major, minor := c.Release.Version()
	args := []string{
		"-x", "cuda", "-nocudainc", "-nocudalib", "--no-offload-new-driver", "-Wno-unknown-cuda-version", "-Wno-unknown-warning-option", "-fgnu-keywords", // typeof
		"-Xclang=" + targetSDK, "-Xclang=-fcuda-allow-variadic-functions", "-Xclang=" + undefinedArguments,
		"-D__NVCC__=1", "-D__NVCC_DIAG_PRAGMA_SUPPORT__=1",
		fmt.Sprintf("-D__CUDACC_VER_MAJOR__=%d", major), fmt.Sprintf("-D__CUDACC_VER_MINOR__=%d", minor), fmt.Sprintf("-D__CUDACC_VER_BUILD__=%d", c.Release.Build()),
	}
	for _, w := range onlyWarned {
		args = append(args, "-Wno-error="+w)
	}
	if c.Std != "" {
		args = append(args, "-std="+c.Std)
	}
	args = append(args, "-U__CUDA_ARCH_LIST__", "-D__CUDA_ARCH_LIST__="+c.archList())
	for _, f := range []struct {
		on   bool
		args []string
	}{
		{c.Relocatable, []string{"-fgpu-rdc", "-D__CUDACC_RDC__=1", "-cuid=" + c.Unit}},
		{c.Lambdas, []string{"-D__CUDACC_EXTENDED_LAMBDA__=1"}},
		{c.Relaxed, []string{"-D__CUDACC_RELAXED_CONSTEXPR__=1"}},
		{c.Streams, []string{"-DCUDA_API_PER_THREAD_DEFAULT_STREAM=1", "-fgpu-default-stream=per-thread"}},
		{c.Debug, []string{"-D__CUDACC_DEBUG__=1"}},
		{c.Approx, []string{"-D__USE_FAST_MATH__=1"}},
	} {
		if f.on {
			args = append(args, f.args...)
		}
	}
	return append(args, "-isystem", p.Headers, "-include", filepath.Join(p.Headers, "cuda_runtime.h"))
}

// archList is the value of __CUDA_ARCH_LIST__.
func (c *Compiler) archList() string {
	var list []string
	for _, a := range c.Archs {
		list = append(list, strings.TrimRight(a, "af")+"0")
	}
	return strings.Join(list, ",")
}

// Device are the arguments that make PTX of a source, for Options.Arch. Finish is for what comes of it.
func (c *Compiler) Device(p *Place) []string {
	ptx, _ := strconv.Atoi(strings.ReplaceAll(c.Release.PTX(), ".", "")) // a number of ours
	args := append(c.both(p), "--cuda-device-only", "--cuda-gpu-arch="+c.cpu(p.Major), fmt.Sprintf("--cuda-feature=+ptx%d", min(ptx, ptxOf(p.Major))),
		"-Xclang=-U__CUDA_ARCH__", "-Xclang=-D__CUDA_ARCH__="+strings.TrimRight(c.Arch, "af")+"0")
	args = append(args, p.tuning()...)
	for _, f := range []struct {
		on   bool
		args []string
	}{
		{c.FTZ, []string{"-fgpu-flush-denormals-to-zero", "-D__CUDA_FTZ=1"}},
		{c.FastDiv, []string{"-D__CUDA_PREC_DIV=0", "-mllvm", "-nvptx-prec-divf32=1"}},
		{c.FastSqrt, []string{"-D__CUDA_PREC_SQRT=0", "-mllvm", "-nvptx-prec-sqrtf32=0"}},
		{c.NoFMA, []string{"-ffp-contract=off"}},
		{!c.NoFMA, []string{"-ffp-contract=fast"}},
		{!c.Debug || c.Optimise, []string{"-O3"}},
		{c.Debug, []string{"-Xclang=-debug-info-kind=limited", "-Xclang=-dwarf-version=2"}},
		{c.Lines && !c.Debug, []string{"-Xclang=-debug-info-kind=line-directives-only", "-Xclang=-dwarf-version=2"}},
		{p.Libdevice != "" && p.CNames != "", []string{"-Xclang=" + callsOfC, "-Xclang=-mlink-builtin-bitcode", "-Xclang=" + p.CNames}},
		{p.Libdevice != "", []string{"-Xclang=-mlink-builtin-bitcode", "-Xclang=" + p.Libdevice}},
	} {
		if f.on {
			args = append(args, f.args...)
		}
	}
	return args
}

// Host are the arguments that compile a source for the host. The fat binary goes into it; "" is none.
func (c *Compiler) Host(p *Place, fatbin string) []string {
	args := append(c.both(p), "--cuda-host-only")
	if fatbin != "" {
		args = append(args, "-Xclang=-fcuda-include-gpubinary", "-Xclang="+fatbin)
	}
	return args
}
