package cusparse

import (
	"kudzu/internal/handle"
	"kudzu/internal/hostmem"
	"kudzu/internal/spec/sparse"
)

// denseMatrix is what cusparseCreateDnMat gives.
type denseMatrix struct {
	rows, cols, ld int64
	values         uint64
	kind           dataType
	elem           Elem
	order          order
	batch          int32
	stride         int64
}

var matrices = handle.NewTable[denseMatrix](handle.CusparseDenseMatrix, "cuSPARSE dense matrices")

// CreateDnMat describes a dense matrix.
func (t *Thread) CreateDnMat(rows, cols, ld int64, values hostmem.Ptr, kind dataType, o order) (uint64, error) {
	e, err := elemOf(kind)
	if err != nil {
		return 0, invalidValue
	}
	least := rows
	switch o {
	case sparse.CUSPARSE_ORDER_COL:
	case sparse.CUSPARSE_ORDER_ROW:
		least = cols
	default:
		return 0, invalidValue
	}
	if rows < 0 || cols < 0 || ld < least {
		return 0, invalidValue
	}
	return given(matrices.New(&denseMatrix{rows: rows, cols: cols, ld: ld, values: uint64(values), kind: kind, elem: e, order: o, batch: 1}))
}

// CreateConstDnMat describes a dense matrix that is only read.
func (t *Thread) CreateConstDnMat(rows, cols, ld int64, values hostmem.Ptr, kind dataType, o order) (uint64, error) {
	return t.CreateDnMat(rows, cols, ld, values, kind, o)
}

// DestroyDnMat ends a description.
func (t *Thread) DestroyDnMat(m uint64) error { return ended(matrices, m) }

// DnMatGet says what was described.
func (t *Thread) DnMatGet(m uint64, rows, cols, ld, values, kind, o hostmem.Ptr) error {
	x, err := got(matrices, m)
	if err != nil {
		return err
	}
	return giveAll(give(rows, x.rows), give(cols, x.cols), give(ld, x.ld), give(values, x.values), give(kind, x.kind), give(o, x.order))
}

// ConstDnMatGet says what was described.
func (t *Thread) ConstDnMatGet(m uint64, rows, cols, ld, values, kind, o hostmem.Ptr) error {
	return t.DnMatGet(m, rows, cols, ld, values, kind, o)
}

// DnMatGetValues is where the elements are.
func (t *Thread) DnMatGetValues(m uint64, values hostmem.Ptr) error {
	x, err := got(matrices, m)
	if err != nil {
		return err
	}
	return store(values, x.values)
}

// ConstDnMatGetValues is where the elements are.
func (t *Thread) ConstDnMatGetValues(m uint64, values hostmem.Ptr) error {
	return t.DnMatGetValues(m, values)
}

// DnMatSetValues says where they are now.
func (t *Thread) DnMatSetValues(m uint64, values hostmem.Ptr) error {
	x, err := got(matrices, m)
	if err != nil {
		return err
	}
	x.values = uint64(values)
	return nil
}

// DnMatSetStridedBatch makes it one of a batch.
func (t *Thread) DnMatSetStridedBatch(m uint64, batch int32, stride int64) error {
	x, err := got(matrices, m)
	if err != nil {
		return err
	}
	across := x.cols
	if x.order == sparse.CUSPARSE_ORDER_ROW {
		across = x.rows
	}
	if batch <= 0 || stride < 0 || stride > 0 && stride < x.ld*across {
		return invalidValue
	}
	x.batch, x.stride = batch, stride
	return nil
}

// DnMatGetStridedBatch says which batch.
func (t *Thread) DnMatGetStridedBatch(m uint64, batch, stride hostmem.Ptr) error {
	x, err := got(matrices, m)
	if err != nil {
		return err
	}
	return giveAll(give(batch, x.batch), give(stride, x.stride))
}
