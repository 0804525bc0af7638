package cusparse

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
	productKernels = &shim.Kernels{Name: "cuSPARSE products", Text: texts.Lazy("product")}
	fastKernels    = &shim.Kernels{Name: "cuSPARSE CSR", Text: texts.Lazy("fast")}
	convertKernels = &shim.Kernels{Name: "cuSPARSE conversions", Text: texts.Lazy("convert")}
	solveKernels   = &shim.Kernels{Name: "cuSPARSE solves", Text: texts.Lazy("solve")}
	sparseKernels  = &shim.Kernels{Name: "cuSPARSE matrices", Text: texts.Lazy("sparse")}
)
