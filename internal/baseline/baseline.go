// Package baseline translates the LLVM text that emit/warp writes to machine code of x86-64, without libLLVM and many times faster:
// each instruction by itself, values in a stack frame. The code is for a kernel's first launches, until the optimised code is there.
package baseline

import (
	"strings"

	"kudzu/internal/image"
)

// Target is what the machine has.
type Target struct {
	AVX512   bool   // the four parts that emit/warp asks for: F, BW, DQ and VL
	Features string // LLVM's list: "+avx2,+fma"
}

// TargetOf reads LLVM's list of features.
func TargetOf(features string) Target {
	t := Target{Features: features}
	t.AVX512 = t.Has("avx512f") && t.Has("avx512bw") && t.Has("avx512dq") && t.Has("avx512vl")
	return t
}

// Has reports a feature by LLVM's name.
func (t Target) Has(feature string) bool {
	return strings.Contains(","+t.Features+",", ",+"+feature+",")
}

// Code is machine code that image.Assemble lays out.
type Code struct {
	Bytes []byte       // instructions, then constants
	Text  uint32       // where the instructions end
	Entry uint32       // where the kernel's function begins
	Lines []image.Line // sorted by offset
}

// Unsupported is text that this compiler does not translate.
type Unsupported struct{ What string }

// Error names it.
func (e *Unsupported) Error() string { return "baseline: " + e.What + " is not supported" }

// Compile translates a module whose kernel is the function entry. The error is *Unsupported if it cannot.
func Compile(text, entry string, t Target) (*Code, error) {
	return nil, &Unsupported{What: "machine code for " + entry}
}
