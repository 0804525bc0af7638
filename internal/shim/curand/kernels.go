package curand

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
	streamKernels  = &shim.Kernels{Name: "cuRAND streams", Text: texts.Lazy("streams")}
	philoxKernels  = &shim.Kernels{Name: "cuRAND Philox", Text: texts.Lazy("philox")}
	sobolKernels   = &shim.Kernels{Name: "cuRAND Sobol", Text: texts.Lazy("sobol")}
	twisterKernels = &shim.Kernels{Name: "cuRAND twisters", Text: texts.Lazy("twister")}
)
