package cublas

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
	level1Kernels  = &shim.Kernels{Name: "cuBLAS vectors", Text: texts.Lazy("level1")}
	level2Kernels  = &shim.Kernels{Name: "cuBLAS matrix and vector", Text: texts.Lazy("level2")}
	level3Kernels  = &shim.Kernels{Name: "cuBLAS matrices", Text: texts.Lazy("level3")}
	gemmKernels    = &shim.Kernels{Name: "cuBLAS gemm", Text: texts.Lazy("gemm")}
	complexKernels = &shim.Kernels{Name: "cuBLAS complex products", Text: texts.Lazy("complex")}
	skinnyKernels  = &shim.Kernels{Name: "cuBLAS skinny products", Text: texts.Lazy("skinny")}
	tinyKernels    = &shim.Kernels{Name: "cuBLAS tiny products", Text: texts.Lazy("tiny")}
	lapackKernels  = &shim.Kernels{Name: "cuBLAS small systems", Text: texts.Lazy("lapack")}
	qrKernels      = &shim.Kernels{Name: "cuBLAS least squares", Text: texts.Lazy("qr")}
	rotateKernels  = &shim.Kernels{Name: "cuBLAS rotations", Text: texts.Lazy("rotate")}
	byteKernels    = &shim.Kernels{Name: "cuBLAS bytes", Text: texts.Lazy("bytes")}
	storedKernels  = &shim.Kernels{Name: "cuBLAS bands and packed triangles", Text: texts.Lazy("stored")}
)
