package cublaslt

import (
	"kudzu/internal/driver"
	"kudzu/internal/hostmem"
	"kudzu/internal/shim"
	"kudzu/internal/shim/cublas"
	"kudzu/internal/spec/blas"
	"kudzu/internal/spec/cu"
	"kudzu/internal/spec/lt"
	"kudzu/internal/spec/rt"
)

// Provider multiplies with something other than our kernels: a library of the device's vendor.
type Provider interface {
	Name() string
	// Matmul does one product on a stream. Not done means that nothing has happened: our kernels do it.
	Matmul(d *driver.Thread, x *cublas.Handle, stream cu.CUstream, m *Matmul) (done bool, err error)
}

// Matmul is one call of cublasLtMatmul as its descriptors say it: numbers are CUDA's, addresses the program's.
type Matmul struct {
	Shape    Shape
	Pointers [NumPointers]uint64
}

// Shape is all of a product but where it lies: equal shapes are done in the same way.
type Shape struct {
	Compute        blas.CublasComputeType_t
	Scale          rt.CudaDataType
	TransA, TransB cublas.Op
	Epilogue       lt.CublasLtEpilogue_t
	PointerMode    lt.CublasLtPointerMode_t
	BiasType       rt.CudaDataType // of D where the program said nothing
	AuxLD          uint64
	AuxStride      uint64
	Has            [NumPointers]bool // which optional addresses are given
	Layouts        [4]Layout         // of A, B, C and D
}

// Layout is one matrix.
type Layout struct {
	Type       rt.CudaDataType
	Order      lt.CublasLtOrder_t
	Rows, Cols uint64
	LD         int64
	Batch      int32
	Stride     int64
}

// The addresses of a product. From Bias on they are optional.
const (
	PointerAlpha = iota
	PointerBeta
	PointerA
	PointerB
	PointerC
	PointerD
	PointerBias
	PointerAux
	PointerScaleA
	PointerScaleB
	PointerScaleC
	PointerScaleD
	NumPointers
)

var providers shim.Providers[Provider]

// Use puts a provider behind those there are.
func Use(p Provider) { providers.Add(p) }

// Unuse forgets all providers. For tests: a process has one set of them.
func Unuse() { providers.Clear() }

// elsewhere offers a product to the providers. The descriptors make sense: planOf has seen them.
func (t *Thread) elsewhere(x *cublas.Handle, stream cu.CUstream, desc hostmem.Ptr, layouts, operands [4]hostmem.Ptr, alpha, beta hostmem.Ptr) (bool, error) {
	list := providers.All()
	if list == nil || !t.driver().AnyAbroad() {
		return false, nil
	}
	m, ok, err := matmulOf(desc, layouts)
	if !ok || err != nil {
		return false, err
	}
	for i, p := range []hostmem.Ptr{alpha, beta, operands[0], operands[1], operands[2], operands[3]} {
		m.Pointers[i] = uint64(p)
	}
	for _, p := range list {
		if done, err := p.Matmul(t.driver(), x, stream, m); done {
			return true, err
		}
	}
	return false, nil
}

// plainOnly are the attributes that no provider knows: they must be as they began.
var plainOnly = [...]lt.CublasLtMatmulDescAttributes_t{
	lt.CUBLASLT_MATMUL_DESC_TRANSC, lt.CUBLASLT_MATMUL_DESC_BIAS_BATCH_STRIDE, lt.CUBLASLT_MATMUL_DESC_ALPHA_VECTOR_BATCH_STRIDE,
	lt.CUBLASLT_MATMUL_DESC_A_SCALE_MODE, lt.CUBLASLT_MATMUL_DESC_B_SCALE_MODE, lt.CUBLASLT_MATMUL_DESC_C_SCALE_MODE, lt.CUBLASLT_MATMUL_DESC_D_SCALE_MODE,
	lt.CUBLASLT_MATMUL_DESC_AMAX_D_POINTER, lt.CUBLASLT_MATMUL_DESC_D_OUT_SCALE_POINTER, lt.CUBLASLT_MATMUL_DESC_EPILOGUE_AUX_AMAX_POINTER,
	lt.CUBLASLT_MATMUL_DESC_EPILOGUE_AUX_SCALE_POINTER,
}

// matmulOf reads the descriptors; false where something is set that no provider knows.
func matmulOf(desc hostmem.Ptr, layouts [4]hostmem.Ptr) (*Matmul, bool, error) {
	x, err := descKind.find(desc)
	if err != nil {
		return nil, false, err
	}
	for _, a := range plainOnly {
		if get(x, a) != 0 {
			return nil, false, nil
		}
	}
	if get(x, lt.CUBLASLT_MATMUL_DESC_FILL_MODE) != uint64(blas.CUBLAS_FILL_MODE_FULL) {
		return nil, false, nil
	}
	m := &Matmul{}
	s := &m.Shape
	for i, p := range layouts {
		l, err := layoutKind.find(p)
		if err != nil {
			return nil, false, err
		}
		if lt.CublasLtBatchMode_t(get(l, lt.CUBLASLT_MATRIX_LAYOUT_BATCH_MODE)) != lt.CUBLASLT_BATCH_MODE_STRIDED || get(l, lt.CUBLASLT_MATRIX_LAYOUT_PLANE_OFFSET) != 0 {
			return nil, false, nil
		}
		s.Layouts[i] = Layout{
			Type: rt.CudaDataType(get(l, lt.CUBLASLT_MATRIX_LAYOUT_TYPE)), Order: lt.CublasLtOrder_t(get(l, lt.CUBLASLT_MATRIX_LAYOUT_ORDER)),
			Rows: get(l, lt.CUBLASLT_MATRIX_LAYOUT_ROWS), Cols: get(l, lt.CUBLASLT_MATRIX_LAYOUT_COLS), LD: int64(get(l, lt.CUBLASLT_MATRIX_LAYOUT_LD)),
			Batch: int32(get(l, lt.CUBLASLT_MATRIX_LAYOUT_BATCH_COUNT)), Stride: int64(get(l, lt.CUBLASLT_MATRIX_LAYOUT_STRIDED_BATCH_OFFSET)),
		}
	}
	s.Compute, s.Scale = blas.CublasComputeType_t(get(x, lt.CUBLASLT_MATMUL_DESC_COMPUTE_TYPE)), rt.CudaDataType(get(x, lt.CUBLASLT_MATMUL_DESC_SCALE_TYPE))
	s.TransA, s.TransB = cublas.Op(get(x, lt.CUBLASLT_MATMUL_DESC_TRANSA)), cublas.Op(get(x, lt.CUBLASLT_MATMUL_DESC_TRANSB))
	s.Epilogue = lt.CublasLtEpilogue_t(get(x, lt.CUBLASLT_MATMUL_DESC_EPILOGUE))
	s.PointerMode = lt.CublasLtPointerMode_t(get(x, lt.CUBLASLT_MATMUL_DESC_POINTER_MODE))
	s.BiasType = s.Layouts[3].Type
	if v := get(x, lt.CUBLASLT_MATMUL_DESC_BIAS_DATA_TYPE); v != unset {
		s.BiasType = rt.CudaDataType(v)
	}
	if v := get(x, lt.CUBLASLT_MATMUL_DESC_EPILOGUE_AUX_DATA_TYPE); v != unset && rt.CudaDataType(v) != s.Layouts[3].Type {
		return nil, false, nil
	}
	s.AuxLD, s.AuxStride = get(x, lt.CUBLASLT_MATMUL_DESC_EPILOGUE_AUX_LD), get(x, lt.CUBLASLT_MATMUL_DESC_EPILOGUE_AUX_BATCH_STRIDE)
	for i, a := range [...]lt.CublasLtMatmulDescAttributes_t{
		PointerBias: lt.CUBLASLT_MATMUL_DESC_BIAS_POINTER, PointerAux: lt.CUBLASLT_MATMUL_DESC_EPILOGUE_AUX_POINTER,
		PointerScaleA: lt.CUBLASLT_MATMUL_DESC_A_SCALE_POINTER, PointerScaleB: lt.CUBLASLT_MATMUL_DESC_B_SCALE_POINTER,
		PointerScaleC: lt.CUBLASLT_MATMUL_DESC_C_SCALE_POINTER, PointerScaleD: lt.CUBLASLT_MATMUL_DESC_D_SCALE_POINTER,
	} {
		if i >= PointerBias {
			m.Pointers[i] = get(x, a)
			s.Has[i] = m.Pointers[i] != 0
		}
	}
	return m, true, nil
}
