package cusolver

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
	factorKernels      = &shim.Kernels{Name: "cuSOLVER factorizations", Text: texts.Lazy("factor")}
	smallKernels       = &shim.Kernels{Name: "cuSOLVER values of small matrices", Text: texts.Lazy("small")}
	eigenKernels       = &shim.Kernels{Name: "cuSOLVER eigenvalues", Text: texts.Lazy("eigen")}
	tridiagonalKernels = &shim.Kernels{Name: "cuSOLVER eigenvalues of large matrices", Text: texts.Lazy("tridiagonal")}
	bidiagonalKernels  = &shim.Kernels{Name: "cuSOLVER singular values of large matrices", Text: texts.Lazy("bidiagonal")}
	svdKernels         = &shim.Kernels{Name: "cuSOLVER singular values", Text: texts.Lazy("svd")}
	loneKernels        = &shim.Kernels{Name: "cuSOLVER eigenvalues of any small complex matrix", Text: texts.Lazy("lone")}
	realKernels        = &shim.Kernels{Name: "cuSOLVER eigenvalues of any real matrix", Text: texts.Lazy("real")}
	hessenbergKernels  = &shim.Kernels{Name: "cuSOLVER Hessenberg matrices", Text: texts.Lazy("hessenberg")}
	schurReal          = &shim.Kernels{Name: "cuSOLVER eigenvalues of large real matrices", Text: texts.Lazy("schurreal")}
	schurComplex       = &shim.Kernels{Name: "cuSOLVER eigenvalues of large complex matrices", Text: texts.Lazy("schurcomplex")}
	indefiniteKernels  = &shim.Kernels{Name: "cuSOLVER indefinite matrices", Text: texts.Lazy("indefinite")}
	polarKernels       = &shim.Kernels{Name: "cuSOLVER polar decompositions", Text: texts.Lazy("polar")}
)

// schurKernels find eigenvalues of large matrices of any kind.
var schurKernels = map[Elem]*shim.Kernels{F32: schurReal, F64: schurReal, C32: schurComplex, C64: schurComplex}
