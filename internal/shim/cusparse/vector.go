package cusparse

import (
	"kudzu/internal/handle"
	"kudzu/internal/hostmem"
	"kudzu/internal/shim/cublas"
	"kudzu/internal/spec/rt"
	"kudzu/internal/spec/sparse"
)

// denseVector is what cusparseCreateDnVec gives.
type denseVector struct {
	size   int64
	values uint64
	kind   dataType
	elem   Elem
}

// sparseVector is what cusparseCreateSpVec gives.
type sparseVector struct {
	size, nnz       int64
	indices, values uint64
	wide            indexType
	base            indexBase
	kind            dataType
	elem            Elem
}

var (
	vectors       = handle.NewTable[denseVector](handle.CusparseVector, "cuSPARSE vectors")
	sparseVectors = handle.NewTable[sparseVector](handle.CusparseSparseVector, "cuSPARSE sparse vectors")
)

// none is the element of types that descriptors have and no function takes: complex numbers of 16 bits.
const none Elem = 255

// elemOf is the type that CUDA names.
func elemOf(k dataType) (Elem, error) {
	if e, ok := cublas.ElemOf(k); ok {
		return e, nil
	}
	if k == rt.CUDA_C_16F || k == rt.CUDA_C_16BF {
		return none, nil
	}
	return 0, invalidValue
}

func indexBad(t indexType) bool {
	return t < sparse.CUSPARSE_INDEX_16U || t > sparse.CUSPARSE_INDEX_64I
}

func baseBad(b indexBase) bool {
	return b != sparse.CUSPARSE_INDEX_BASE_ZERO && b != sparse.CUSPARSE_INDEX_BASE_ONE
}

// got is the live object of a handle.
func got[T any](t *handle.Table[T], h uint64) (*T, error) {
	if x := t.Get(handle.Value(h)); x != nil {
		return x, nil
	}
	return nil, invalidValue
}

// ended ends an object.
func ended[T any](t *handle.Table[T], h uint64) error {
	if h == 0 {
		return nil
	}
	if t.Delete(handle.Value(h)) == nil {
		return invalidValue
	}
	return nil
}

// CreateDnVec describes a dense vector.
func (t *Thread) CreateDnVec(size int64, values hostmem.Ptr, kind dataType) (uint64, error) {
	e, err := elemOf(kind)
	if err != nil {
		return 0, err
	}
	if size < 0 {
		return 0, invalidValue
	}
	return given(vectors.New(&denseVector{size: size, values: uint64(values), kind: kind, elem: e}))
}

// CreateConstDnVec describes a dense vector that is only read.
func (t *Thread) CreateConstDnVec(size int64, values hostmem.Ptr, kind dataType) (uint64, error) {
	return t.CreateDnVec(size, values, kind)
}

// DestroyDnVec ends a description.
func (t *Thread) DestroyDnVec(v uint64) error { return ended(vectors, v) }

// DnVecGet says what was described.
func (t *Thread) DnVecGet(v uint64, size, values, kind hostmem.Ptr) error {
	x, err := got(vectors, v)
	if err != nil {
		return err
	}
	return giveAll(give(size, x.size), give(values, x.values), give(kind, x.kind))
}

// ConstDnVecGet says what was described.
func (t *Thread) ConstDnVecGet(v uint64, size, values, kind hostmem.Ptr) error {
	return t.DnVecGet(v, size, values, kind)
}

// DnVecGetValues is where the elements are.
func (t *Thread) DnVecGetValues(v uint64, values hostmem.Ptr) error {
	x, err := got(vectors, v)
	if err != nil {
		return err
	}
	return store(values, x.values)
}

// ConstDnVecGetValues is where the elements are.
func (t *Thread) ConstDnVecGetValues(v uint64, values hostmem.Ptr) error {
	return t.DnVecGetValues(v, values)
}

// DnVecSetValues says where they are now.
func (t *Thread) DnVecSetValues(v uint64, values hostmem.Ptr) error {
	x, err := got(vectors, v)
	if err != nil {
		return err
	}
	x.values = uint64(values)
	return nil
}

// CreateSpVec describes a sparse vector.
func (t *Thread) CreateSpVec(size, nnz int64, indices, values hostmem.Ptr, wide indexType, base indexBase, kind dataType) (uint64, error) {
	e, err := elemOf(kind)
	if err != nil {
		return 0, invalidValue
	}
	if size < 0 || nnz < 0 || nnz > size || indexBad(wide) || baseBad(base) {
		return 0, invalidValue
	}
	return given(sparseVectors.New(&sparseVector{size: size, nnz: nnz, indices: uint64(indices), values: uint64(values), wide: wide, base: base, kind: kind, elem: e}))
}

// CreateConstSpVec describes a sparse vector that is only read.
func (t *Thread) CreateConstSpVec(size, nnz int64, indices, values hostmem.Ptr, wide indexType, base indexBase, kind dataType) (uint64, error) {
	return t.CreateSpVec(size, nnz, indices, values, wide, base, kind)
}

// DestroySpVec ends a description.
func (t *Thread) DestroySpVec(v uint64) error { return ended(sparseVectors, v) }

// SpVecGet says what was described.
func (t *Thread) SpVecGet(v uint64, size, nnz, indices, values, wide, base, kind hostmem.Ptr) error {
	x, err := got(sparseVectors, v)
	if err != nil {
		return err
	}
	return giveAll(give(size, x.size), give(nnz, x.nnz), give(indices, x.indices), give(values, x.values), give(wide, x.wide), give(base, x.base), give(kind, x.kind))
}

// ConstSpVecGet says what was described.
func (t *Thread) ConstSpVecGet(v uint64, size, nnz, indices, values, wide, base, kind hostmem.Ptr) error {
	return t.SpVecGet(v, size, nnz, indices, values, wide, base, kind)
}

// SpVecGetIndexBase is the number of the first element.
func (t *Thread) SpVecGetIndexBase(v uint64, base hostmem.Ptr) error {
	x, err := got(sparseVectors, v)
	if err != nil {
		return err
	}
	return store(base, x.base)
}

// SpVecGetValues is where the values are.
func (t *Thread) SpVecGetValues(v uint64, values hostmem.Ptr) error {
	x, err := got(sparseVectors, v)
	if err != nil {
		return err
	}
	return store(values, x.values)
}

// ConstSpVecGetValues is where the values are.
func (t *Thread) ConstSpVecGetValues(v uint64, values hostmem.Ptr) error {
	return t.SpVecGetValues(v, values)
}

// SpVecSetValues says where they are now.
func (t *Thread) SpVecSetValues(v uint64, values hostmem.Ptr) error {
	x, err := got(sparseVectors, v)
	if err != nil {
		return err
	}
	x.values = uint64(values)
	return nil
}
