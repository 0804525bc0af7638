package cusparselt

import (
	"math"
	"reflect"

	"kudzu/internal/hostmem"
	"kudzu/internal/shim/cublas"
	"kudzu/internal/spec/rt"
	"kudzu/internal/spec/sparse"
	"kudzu/internal/spec/sparselt"
)

// elem is a type as the kernels number it.
type elem uint32

// The types beyond cuBLAS's.
const (
	e4m3 elem = 8 + iota
	e5m2
)

func elemOf(t rt.CudaDataType) (elem, bool) {
	switch t {
	case rt.CUDA_R_8F_E4M3:
		return e4m3, true
	case rt.CUDA_R_8F_E5M2:
		return e5m2, true
	case rt.CUDA_R_16F, rt.CUDA_R_16BF, rt.CUDA_R_32F, rt.CUDA_R_8I, rt.CUDA_R_32I:
		e, ok := cublas.ElemOf(t)
		return elem(e), ok
	}
	return 0, false
}

func (e elem) size() int64 {
	if e >= e4m3 {
		return 1
	}
	return int64(cublas.Elem(e).Size())
}

// matrix is a descriptor, as it lies in the program's memory.
type matrix struct {
	mark           uint64
	rows, cols, ld int64
	batches, apart int64
	elem           elem
	row            bool // its rows lie one after another
	structured     bool
}

// describe checks and writes a descriptor. Lengths are multiples of what a load of 16 bytes has, of a structured matrix of twice that.
func (t *Thread) describe(h, at hostmem.Ptr, m matrix, ty rt.CudaDataType, order sparse.CusparseOrder_t, alignment uint32) error {
	if _, err := find(h); err != nil {
		return err
	}
	e, ok := elemOf(ty)
	if at == hostmem.Nil || m.rows < 1 || m.cols < 1 || alignment == 0 || alignment%16 != 0 || order != sparse.CUSPARSE_ORDER_COL && order != sparse.CUSPARSE_ORDER_ROW {
		return invalidValue
	}
	if !ok || m.structured && e == elem(cublas.S32) {
		return notSupported
	}
	m.mark, m.elem, m.row, m.batches = markMatrix, e, order == sparse.CUSPARSE_ORDER_ROW, 1
	unit := 16 / e.size()
	if m.structured {
		unit *= 2
	}
	short := m.rows
	if m.row {
		short = m.cols
	}
	if m.ld < short {
		return invalidValue
	}
	if m.rows%unit != 0 || m.cols%unit != 0 || m.ld%(16/e.size()) != 0 {
		return notSupported
	}
	hostmem.Store(at, m)
	return nil
}

// DenseDescriptorInit describes a matrix.
func (t *Thread) DenseDescriptorInit(h, at hostmem.Ptr, rows, cols, ld int64, alignment uint32, ty rt.CudaDataType, order sparse.CusparseOrder_t) error {
	return t.describe(h, at, matrix{rows: rows, cols: cols, ld: ld}, ty, order, alignment)
}

// StructuredDescriptorInit describes a matrix with two zeros in four.
func (t *Thread) StructuredDescriptorInit(h, at hostmem.Ptr, rows, cols, ld int64, alignment uint32, ty rt.CudaDataType, order sparse.CusparseOrder_t, s sparselt.CusparseLtSparsity_t) error {
	if s != sparselt.CUSPARSELT_SPARSITY_50_PERCENT {
		return invalidValue
	}
	return t.describe(h, at, matrix{rows: rows, cols: cols, ld: ld, structured: true}, ty, order, alignment)
}

// MatDescriptorDestroy ends it.
func (t *Thread) MatDescriptorDestroy(at hostmem.Ptr) error { return forget(at, markMatrix) }

// attribute copies one between an object and the program: of n bytes, which the program must have said.
func attribute[T any](at *T, data hostmem.Ptr, size uint64, set bool) error {

	if data == hostmem.Nil || size != uint64(reflect.TypeFor[T]().Size()) {
		return invalidValue
	}
	if set {
		*at = hostmem.Load[T](data)
	} else {
		hostmem.Store(data, *at)
	}
	return nil
}

// matrixAttribute sets or tells an attribute of a matrix.
func (t *Thread) matrixAttribute(h, at hostmem.Ptr, which sparselt.CusparseLtMatDescAttribute_t, data hostmem.Ptr, size uint64, set bool) error {
	if _, err := find(h); err != nil {
		return err
	}
	m, err := object[matrix](at, markMatrix)
	if err != nil {
		return err
	}
	switch which {
	case sparselt.CUSPARSELT_MAT_NUM_BATCHES:
		n := int32(m.batches)
		if err := attribute(&n, data, size, set); err != nil {
			return err
		}
		if n < 1 {
			return invalidValue
		}
		m.batches = int64(n)
		return nil
	case sparselt.CUSPARSELT_MAT_BATCH_STRIDE:
		return attribute(&m.apart, data, size, set)
	}
	return invalidValue
}

// MatDescSetAttribute sets an attribute of a matrix.
func (t *Thread) MatDescSetAttribute(h, at hostmem.Ptr, which sparselt.CusparseLtMatDescAttribute_t, data hostmem.Ptr, size uint64) error {
	return t.matrixAttribute(h, at, which, data, size, true)
}

// MatDescGetAttribute tells it.
func (t *Thread) MatDescGetAttribute(h, at hostmem.Ptr, which sparselt.CusparseLtMatDescAttribute_t, data hostmem.Ptr, size uint64) error {
	return t.matrixAttribute(h, at, which, data, size, false)
}

// matmul is the description of a product. C's and D's layouts are alike.
type matmul struct {
	mark                  uint64
	a, b, c, d            matrix
	biasApart             int64
	bias, sparseAt        uint64
	scales                [5]uint64
	modes                 [5]int32
	relu, gelu            int32
	upper, threshold      float32
	geluScale             float32
	alphaVector, betaMany int32
	turnA, turnB          bool
}

// MatmulDescriptorInit describes a product, of which one operand is structured.
func (t *Thread) MatmulDescriptorInit(h, at hostmem.Ptr, opA, opB sparse.CusparseOperation_t, a, b, c, d hostmem.Ptr, compute sparselt.CusparseComputeType) error {
	if _, err := find(h); err != nil {
		return err
	}
	if at == hostmem.Nil || opA > sparse.CUSPARSE_OPERATION_TRANSPOSE || opB > sparse.CUSPARSE_OPERATION_TRANSPOSE || opA < 0 || opB < 0 ||
		compute < sparselt.CUSPARSE_COMPUTE_32I || compute > sparselt.CUSPARSE_COMPUTE_32F {
		return invalidValue
	}
	m := matmul{mark: markMatmul, turnA: opA != 0, turnB: opB != 0, upper: float32(math.Inf(1)), geluScale: 1}
	for to, from := range map[*matrix]hostmem.Ptr{&m.a: a, &m.b: b, &m.c: c, &m.d: d} {
		x, err := object[matrix](from, markMatrix)
		if err != nil {
			return err
		}
		*to = *x
	}
	rows, k := m.a.size(m.turnA)
	inner, cols := m.b.size(m.turnB)
	if k != inner || rows != m.d.rows || cols != m.d.cols || m.c.rows != m.d.rows || m.c.cols != m.d.cols || m.a.structured == m.b.structured || m.c.structured || m.d.structured {
		return invalidValue
	}
	whole := m.a.elem == elem(cublas.S8)
	if m.a.elem != m.b.elem || m.c.row != m.d.row || !m.results() || whole != (compute == sparselt.CUSPARSE_COMPUTE_32I) {
		return notSupported
	}
	if m.a.elem.size() == 1 && (m.a.row == m.turnA || m.b.row != m.turnB) {
		return notSupported // numbers of 8 bits are read along k
	}
	n := m.d.batches
	for _, x := range []*matrix{&m.a, &m.b, &m.c} {
		if x.batches != n && x.batches != 1 {
			return invalidValue
		}
	}
	hostmem.Store(at, m)
	return nil
}

// size is rows and columns of op(X).
func (m *matrix) size(turn bool) (rows, cols int64) {
	if turn {
		return m.cols, m.rows
	}
	return m.rows, m.cols
}

// results says that C and D may have their types.
func (m *matmul) results() bool {
	f32, f16, bf16, s8, s32 := elem(cublas.F32), elem(cublas.F16), elem(cublas.BF16), elem(cublas.S8), elem(cublas.S32)
	in := func(e elem, list ...elem) bool {
		for _, x := range list {
			if x == e {
				return true
			}
		}
		return false
	}
	switch {
	case m.c.elem != m.d.elem:
		return false
	case m.a.elem == s8:
		return in(m.d.elem, s8, s32, f16, bf16)
	case m.a.elem >= e4m3:
		return in(m.d.elem, f16, bf16, f32)
	}
	return m.d.elem == m.a.elem
}

// takesGelu says that a product of these types may end with gelu, as cuSPARSELt 0.8 does on an H200.
func (m *matmul) takesGelu() bool {
	s8 := elem(cublas.S8)
	return m.a.elem == s8 && m.d.elem == s8 || m.a.elem >= e4m3 && m.d.elem == elem(cublas.BF16)
}

// matmulAttribute sets or tells an attribute of a product.
func (t *Thread) matmulAttribute(h, at hostmem.Ptr, which sparselt.CusparseLtMatmulDescAttribute_t, data hostmem.Ptr, size uint64, set bool) error {
	if _, err := find(h); err != nil {
		return err
	}
	m, err := object[matmul](at, markMatmul)
	if err != nil {
		return err
	}
	switch which {
	case sparselt.CUSPARSELT_MATMUL_ACTIVATION_RELU:
		return attribute(&m.relu, data, size, set)
	case sparselt.CUSPARSELT_MATMUL_ACTIVATION_RELU_UPPERBOUND:
		return attribute(&m.upper, data, size, set)
	case sparselt.CUSPARSELT_MATMUL_ACTIVATION_RELU_THRESHOLD:
		return attribute(&m.threshold, data, size, set)
	case sparselt.CUSPARSELT_MATMUL_ACTIVATION_GELU:
		if set && !m.takesGelu() {
			return invalidValue
		}
		return attribute(&m.gelu, data, size, set)
	case sparselt.CUSPARSELT_MATMUL_ACTIVATION_GELU_SCALING:
		if set && !m.takesGelu() {
			return invalidValue
		}
		if set {
			m.gelu = 1
		}
		return attribute(&m.geluScale, data, size, set)
	case sparselt.CUSPARSELT_MATMUL_ALPHA_VECTOR_SCALING, sparselt.CUSPARSELT_MATMUL_BETA_VECTOR_SCALING:
		if set && m.a.elem != elem(cublas.S8) {
			return notSupported
		}
		if which == sparselt.CUSPARSELT_MATMUL_BETA_VECTOR_SCALING {
			return attribute(&m.betaMany, data, size, set)
		}
		return attribute(&m.alphaVector, data, size, set)
	case sparselt.CUSPARSELT_MATMUL_BIAS_STRIDE:
		return attribute(&m.biasApart, data, size, set)
	case sparselt.CUSPARSELT_MATMUL_BIAS_POINTER:
		return attribute(&m.bias, data, size, set)
	case sparselt.CUSPARSELT_MATMUL_SPARSE_MAT_POINTER:
		return attribute(&m.sparseAt, data, size, set)
	}
	if i := which - sparselt.CUSPARSELT_MATMUL_A_SCALE_MODE; i >= 0 && i < 5 {
		v := m.modes[i]
		if err := attribute(&v, data, size, set); err != nil {
			return err
		}
		// Scales of blocks are for types that are not done, those of D's blocks are results.
		if v != int32(sparselt.CUSPARSELT_MATMUL_SCALE_NONE) && (v != int32(sparselt.CUSPARSELT_MATMUL_MATRIX_SCALE_SCALAR_32F) || i == 4) {
			return notSupported
		}
		m.modes[i] = v
		return nil
	}
	if i := which - sparselt.CUSPARSELT_MATMUL_A_SCALE_POINTER; i >= 0 && i < 5 {
		return attribute(&m.scales[i], data, size, set)
	}
	return invalidValue
}

// MatmulDescSetAttribute sets an attribute of a product.
func (t *Thread) MatmulDescSetAttribute(h, at hostmem.Ptr, which sparselt.CusparseLtMatmulDescAttribute_t, data hostmem.Ptr, size uint64) error {
	return t.matmulAttribute(h, at, which, data, size, true)
}

// MatmulDescGetAttribute tells it.
func (t *Thread) MatmulDescGetAttribute(h, at hostmem.Ptr, which sparselt.CusparseLtMatmulDescAttribute_t, data hostmem.Ptr, size uint64) error {
	return t.matmulAttribute(h, at, which, data, size, false)
}

// selection is a choice of algorithm: there is one, and what is asked for is only kept.
type selection struct {
	mark  uint64
	parts [6]int32
}

const searchIterations = 5

// MatmulAlgSelectionInit makes a choice.
func (t *Thread) MatmulAlgSelectionInit(h, at, product hostmem.Ptr, alg sparselt.CusparseLtMatmulAlg_t) error {
	if _, err := find(h); err != nil {
		return err
	}
	if _, err := object[matmul](product, markMatmul); err != nil || at == hostmem.Nil || alg != sparselt.CUSPARSELT_MATMUL_ALG_DEFAULT {
		return invalidValue
	}
	hostmem.Store(at, selection{markSelection, [6]int32{0, 1, searchIterations, 1, int32(sparselt.CUSPARSELT_INVALID_MODE), 0}})
	return nil
}

// MatmulAlgSelectionDestroy ends it.
func (t *Thread) MatmulAlgSelectionDestroy(at hostmem.Ptr) error { return forget(at, markSelection) }

// selectionAttribute sets or tells a part of a choice. The number of algorithms is only told.
func (t *Thread) selectionAttribute(h, at hostmem.Ptr, which sparselt.CusparseLtMatmulAlgAttribute_t, data hostmem.Ptr, size uint64, set bool) error {
	if _, err := find(h); err != nil {
		return err
	}
	s, err := object[selection](at, markSelection)
	if err != nil {
		return err
	}
	if which < 0 || int(which) >= len(s.parts) || set && which == sparselt.CUSPARSELT_MATMUL_ALG_CONFIG_MAX_ID {
		return invalidValue
	}
	v := s.parts[which]
	if err := attribute(&v, data, size, set); err != nil {
		return err
	}
	if which == sparselt.CUSPARSELT_MATMUL_ALG_CONFIG_ID && (v < 0 || v >= s.parts[1]) || which == sparselt.CUSPARSELT_MATMUL_SEARCH_ITERATIONS && v < 1 {
		return invalidValue
	}
	s.parts[which] = v
	return nil
}

// MatmulAlgSetAttribute sets a part of a choice.
func (t *Thread) MatmulAlgSetAttribute(h, at hostmem.Ptr, which sparselt.CusparseLtMatmulAlgAttribute_t, data hostmem.Ptr, size uint64) error {
	return t.selectionAttribute(h, at, which, data, size, true)
}

// MatmulAlgGetAttribute tells it.
func (t *Thread) MatmulAlgGetAttribute(h, at hostmem.Ptr, which sparselt.CusparseLtMatmulAlgAttribute_t, data hostmem.Ptr, size uint64) error {
	return t.selectionAttribute(h, at, which, data, size, false)
}
