package nn

import (
	_ "embed" // the kernels

	"kudzu/internal/packed"
	"kudzu/internal/shim"
)

//go:embed kernels/zkernels.lz4
var packedTexts []byte

var texts = packed.New(packedTexts)

// module is one of kernels/*.cu. Each is declared beside the operation that uses it.
func module(about, name string) *shim.Kernels {
	return &shim.Kernels{Name: "cuDNN " + about, Text: texts.Lazy(name)}
}

// Sizes and strides are laid out as kernels/tensor.h has them.

// putSizes appends a Sizes.
func putSizes(q *shim.Params, dim []int64) {
	q.U32(uint32(len(dim)), 0)
	putSides(q, dim)
}

// putStrided appends a Strided.
func putStrided(q *shim.Params, t Tensor) {
	q.U64(t.Addr)
	putSides(q, t.Stride)
}

func putSides(q *shim.Params, v []int64) {
	for i := range MaxDims {
		if i < len(v) {
			q.U64(uint64(v[i]))
		} else {
			q.U64(0)
		}
	}
}
