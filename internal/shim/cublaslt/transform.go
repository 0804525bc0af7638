package cublaslt

import (
	"kudzu/internal/hostmem"
	"kudzu/internal/packed"
	"kudzu/internal/shim"
	"kudzu/internal/shim/cublas"
	"kudzu/internal/spec/blas"
	"kudzu/internal/spec/cu"
	"kudzu/internal/spec/lt"
	"kudzu/internal/spec/rt"
)

var transformKernels = &shim.Kernels{Name: "cuBLASLt transforms", Text: packed.New(packedTexts).Lazy("transform")}

var transformKind = newKind(0x6b75736e61727454, 64, map[lt.CublasLtMatrixTransformDescAttributes_t]uint64{
	lt.CUBLASLT_MATRIX_TRANSFORM_DESC_SCALE_TYPE: 4, lt.CUBLASLT_MATRIX_TRANSFORM_DESC_POINTER_MODE: 4,
	lt.CUBLASLT_MATRIX_TRANSFORM_DESC_TRANSA: 4, lt.CUBLASLT_MATRIX_TRANSFORM_DESC_TRANSB: 4,
})

// MatrixTransformDescInit_internal makes a description of a transform in the program's memory.
func (t *Thread) MatrixTransformDescInit_internal(p hostmem.Ptr, size uint64, scale rt.CudaDataType) error {
	r, err := transformKind.make(p, size)
	if err == nil {
		put(r, lt.CUBLASLT_MATRIX_TRANSFORM_DESC_SCALE_TYPE, uint64(uint32(scale)))
	}
	return err
}

// MatrixTransformDescCreate makes one in memory of ours.
func (t *Thread) MatrixTransformDescCreate(scale rt.CudaDataType) (uint64, error) {
	r, at, err := transformKind.create()
	if err == nil {
		put(r, lt.CUBLASLT_MATRIX_TRANSFORM_DESC_SCALE_TYPE, uint64(uint32(scale)))
	}
	return at, err
}

// MatrixTransformDescDestroy ends one that Create made.
func (t *Thread) MatrixTransformDescDestroy(p hostmem.Ptr) error { return transformKind.destroy(p) }

// MatrixTransformDescSetAttribute sets one attribute.
func (t *Thread) MatrixTransformDescSetAttribute(p hostmem.Ptr, attr lt.CublasLtMatrixTransformDescAttributes_t, buf hostmem.Ptr, size uint64) error {
	return transformKind.set(p, int32(attr), buf, size)
}

// MatrixTransformDescGetAttribute reads one attribute.
func (t *Thread) MatrixTransformDescGetAttribute(p hostmem.Ptr, attr lt.CublasLtMatrixTransformDescAttributes_t, buf hostmem.Ptr, size uint64, written hostmem.Ptr) error {
	return transformKind.read(p, int32(attr), buf, size, written)
}

// tiled is a matrix of a transform.
type tiled struct {
	cublas.View
	order      lt.CublasLtOrder_t
	e          cublas.Elem
	rows, cols int64
	batch      int64
}

// tiledOf reads a layout.
func tiledOf(at, desc hostmem.Ptr) (m tiled, err error) {
	l, err := layoutKind.find(desc)
	if err != nil {
		return m, err
	}
	rows, cols := get(l, lt.CUBLASLT_MATRIX_LAYOUT_ROWS), get(l, lt.CUBLASLT_MATRIX_LAYOUT_COLS)
	if rows > 1<<31-32 || cols > 1<<31-32 {
		return m, notSupported
	}
	m.rows, m.cols = int64(rows), int64(cols)
	m.order = lt.CublasLtOrder_t(get(l, lt.CUBLASLT_MATRIX_LAYOUT_ORDER))
	m.View = cublas.View{Base: uint64(at), LD: int64(get(l, lt.CUBLASLT_MATRIX_LAYOUT_LD)), Stride: int64(get(l, lt.CUBLASLT_MATRIX_LAYOUT_STRIDED_BATCH_OFFSET))}
	var least int64
	switch m.order {
	case lt.CUBLASLT_ORDER_COL:
		least = m.rows
	case lt.CUBLASLT_ORDER_ROW:
		least = m.cols
	case lt.CUBLASLT_ORDER_COL32:
		least = 32 * m.rows
	case lt.CUBLASLT_ORDER_COL4_4R2_8C:
		least = 32 * ((m.rows + 7) &^ 7)
	case lt.CUBLASLT_ORDER_COL32_2R_4R4:
		least = 32 * ((m.rows + 31) &^ 31)
	default:
		return m, invalidValue
	}
	m.batch = int64(int32(get(l, lt.CUBLASLT_MATRIX_LAYOUT_BATCH_COUNT)))
	if m.LD < least || m.batch < 0 {
		return m, invalidValue
	}
	switch lt.CublasLtBatchMode_t(get(l, lt.CUBLASLT_MATRIX_LAYOUT_BATCH_MODE)) {
	case lt.CUBLASLT_BATCH_MODE_STRIDED:
	case lt.CUBLASLT_BATCH_MODE_POINTER_ARRAY:
		m.List, m.Stride = true, 0
	default:
		return m, notSupported
	}
	var ok bool
	if m.e, ok = cublas.ElemOf(rt.CudaDataType(get(l, lt.CUBLASLT_MATRIX_LAYOUT_TYPE))); !ok || get(l, lt.CUBLASLT_MATRIX_LAYOUT_PLANE_OFFSET) != 0 {
		return m, notSupported
	}
	return m, nil
}

// fits says whether op of the matrix has the sides of C.
func (m *tiled) fits(op cublas.Op, c *tiled) bool {
	m.Op = op
	rows, cols := m.rows, m.cols
	if op != blas.CUBLAS_OP_N {
		rows, cols = cols, rows
	}
	return rows == c.rows && cols == c.cols && m.batch == c.batch
}

func (m *tiled) put(q *shim.Params) {
	m.Put(q)
	q.U32(uint32(m.order), uint32(m.e))
}

// MatrixTransform is C = alpha op(A) + beta op(B). Numbers are converted to the scale type, scaled and added in it, and
// converted to C's. A or B may be missing, with its layout, if its factor is zero.
func (t *Thread) MatrixTransform(h lt.CublasLtHandle_t, desc, alpha, a, adesc, beta, b, bdesc, c, cdesc hostmem.Ptr, stream rt.CudaStream_t) error {
	if _, err := cublas.Enter(t.driver(), uint64(h)); err != nil {
		return err
	}
	x, err := transformKind.find(desc)
	if err != nil {
		return err
	}
	if c == hostmem.Nil {
		return invalidValue
	}
	to, err := tiledOf(c, cdesc)
	if err != nil {
		return err
	}
	scale, ok := cublas.ElemOf(rt.CudaDataType(get(x, lt.CUBLASLT_MATRIX_TRANSFORM_DESC_SCALE_TYPE)))
	if !ok || scale == cublas.S8 || scale == cublas.BF16 {
		return notSupported
	}
	mode := blas.CublasPointerMode_t(blas.CUBLAS_POINTER_MODE_HOST)
	switch lt.CublasLtPointerMode_t(get(x, lt.CUBLASLT_MATRIX_TRANSFORM_DESC_POINTER_MODE)) {
	case lt.CUBLASLT_POINTER_MODE_HOST:
	case lt.CUBLASLT_POINTER_MODE_DEVICE:
		mode = blas.CUBLAS_POINTER_MODE_DEVICE
	default:
		return notSupported // no vectors
	}
	var from [2]tiled
	var factors [2]cublas.Scalar
	attrs := [2]lt.CublasLtMatrixTransformDescAttributes_t{lt.CUBLASLT_MATRIX_TRANSFORM_DESC_TRANSA, lt.CUBLASLT_MATRIX_TRANSFORM_DESC_TRANSB}
	for i, p := range [2][3]hostmem.Ptr{{alpha, a, adesc}, {beta, b, bdesc}} {
		op := cublas.Op(get(x, attrs[i]))
		if op < 0 || op > blas.CUBLAS_OP_C {
			return invalidValue
		}
		if p[0] != hostmem.Nil || p[1] != hostmem.Nil {
			if factors[i], err = cublas.ScalarAt(p[0], scale, mode); err != nil {
				return err
			}
		}
		if p[1] == hostmem.Nil && factors[i].IsZero() {
			continue
		}
		if p[1] == hostmem.Nil {
			return invalidValue
		}
		if from[i], err = tiledOf(p[1], p[2]); err != nil {
			return err
		}
		if !from[i].fits(op, &to) {
			return invalidValue
		}
		if !joins(from[i].e, scale) {
			return notSupported
		}
	}
	if !joins(to.e, scale) {
		return notSupported
	}
	return t.transform(scale, from, factors, to, cu.CUstream(stream))
}

// joins: complex numbers are only computed with as such, in s32 there are only integers, in f16 only f16.
func joins(e, scale cublas.Elem) bool {
	complexes := func(e cublas.Elem) bool { return e == cublas.C32 || e == cublas.C64 }
	switch {
	case complexes(e) != complexes(scale):
		return false
	case scale == cublas.S32:
		return e == cublas.S8 || e == cublas.S32
	case scale == cublas.F16:
		return e == cublas.F16
	}
	return true
}

func (t *Thread) transform(scale cublas.Elem, from [2]tiled, factors [2]cublas.Scalar, to tiled, stream cu.CUstream) error {
	if to.rows == 0 || to.cols == 0 {
		return nil
	}
	if scale == cublas.F16 {
		scale = cublas.F32
	}
	const most = 65535
	for first := int64(0); first < to.batch; first += most {
		for col := int64(0); col < to.cols; col += 32 * most {
			var q shim.Params
			from[0].put(&q)
			from[1].put(&q)
			to.put(&q)
			factors[0].Put(&q)
			factors[1].Put(&q)
			q.U32(uint32(to.rows), uint32(to.cols), uint32(col), uint32(first))
			grid := [3]uint32{uint32((to.rows + 31) / 32), uint32(min((to.cols-col+31)/32, most)), uint32(min(to.batch-first, most))}
			if err := transformKernels.Launch(t.driver(), stream, "transform_"+scale.String(), grid, [3]uint32{32, 1, 1}, &q); err != nil {
				return err
			}
		}
	}
	return nil
}
