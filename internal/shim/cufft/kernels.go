package cufft

import (
	_ "embed" // the kernels

	"kudzu/internal/packed"
	"kudzu/internal/shim"
)

//go:embed kernels/zkernels.lz4
var packedTexts []byte

var texts = packed.New(packedTexts)

// The modules, kernels/*.cu.
var (
	stepKernels = map[precision][2]*shim.Kernels{ // lengths that are powers of two, others
		single: {{Name: "cuFFT f32", Text: texts.Lazy("f32")}, {Name: "cuFFT f32, mixed", Text: texts.Lazy("mixed32")}},
		double: {{Name: "cuFFT f64", Text: texts.Lazy("f64")}, {Name: "cuFFT f64, mixed", Text: texts.Lazy("mixed64")}},
	}
	rowKernels = &shim.Kernels{Name: "cuFFT rows", Text: texts.Lazy("rows")}
)

// precision is the type that is calculated in.
type precision uint64

// Each is the size of a real number in bytes.
const (
	single precision = 4
	double precision = 8
)

func (p precision) suffix() string {
	if p == single {
		return "f32"
	}
	return "f64"
}

// complex is the size of a complex number.
func (p precision) complex() uint64 { return 2 * uint64(p) }
