package cusparse

import (
	"kudzu/internal/handle"
	"kudzu/internal/hostmem"
	"kudzu/internal/spec/sparse"
)

// sparseMatrix is what cusparseCreateCsr and the others give.
type sparseMatrix struct {
	format     sparse.CusparseFormat_t
	rows, cols int64 // in elements
	nnz        int64 // of blocks, for BSR
	offsets    uint64
	indices    uint64 // along a line
	lines      uint64 // COO: of rows
	values     uint64
	wideOff    indexType
	wide       indexType
	base       indexBase
	kind       dataType
	elem       Elem
	bm, bn     int64
	order      order // of elements in a block
	width      int64 // sliced ELL: lines of a slice; blocked ELL: columns
	size       int64 // sliced ELL: values, with padding
	batch      int32
	stepOff    int64
	stepInd    int64
	stepVal    int64
	fill       sparse.CusparseFillMode_t
	diag       sparse.CusparseDiagType_t
	marked     bool // a triangle or diagonal was named: only solves take it
}

var sparseMatrices = handle.NewTable[sparseMatrix](handle.CusparseMatrix, "cuSPARSE matrices")

// newMatrix checks what all formats share.
func newMatrix(m *sparseMatrix) (uint64, error) {
	var err error
	if m.elem, err = elemOf(m.kind); err != nil {
		return 0, invalidValue
	}
	if m.rows < 0 || m.cols < 0 || m.nnz < 0 || indexBad(m.wide) || indexBad(m.wideOff) || baseBad(m.base) {
		return 0, invalidValue
	}
	m.batch = 1
	return given(sparseMatrices.New(m))
}

// CreateCsr describes a matrix by rows.
func (t *Thread) CreateCsr(rows, cols, nnz int64, offsets, indices, values hostmem.Ptr, wideOff, wide indexType, base indexBase, kind dataType) (uint64, error) {
	return createLines(sparse.CUSPARSE_FORMAT_CSR, rows, cols, nnz, [3]hostmem.Ptr{offsets, indices, values}, [2]indexType{wideOff, wide}, base, kind)
}

// CreateConstCsr describes one that is only read.
func (t *Thread) CreateConstCsr(rows, cols, nnz int64, offsets, indices, values hostmem.Ptr, wideOff, wide indexType, base indexBase, kind dataType) (uint64, error) {
	return t.CreateCsr(rows, cols, nnz, offsets, indices, values, wideOff, wide, base, kind)
}

// CreateCsc describes a matrix by columns.
func (t *Thread) CreateCsc(rows, cols, nnz int64, offsets, indices, values hostmem.Ptr, wideOff, wide indexType, base indexBase, kind dataType) (uint64, error) {
	return createLines(sparse.CUSPARSE_FORMAT_CSC, rows, cols, nnz, [3]hostmem.Ptr{offsets, indices, values}, [2]indexType{wideOff, wide}, base, kind)
}

// CreateConstCsc describes one that is only read.
func (t *Thread) CreateConstCsc(rows, cols, nnz int64, offsets, indices, values hostmem.Ptr, wideOff, wide indexType, base indexBase, kind dataType) (uint64, error) {
	return t.CreateCsc(rows, cols, nnz, offsets, indices, values, wideOff, wide, base, kind)
}

func createLines(f sparse.CusparseFormat_t, rows, cols, nnz int64, p [3]hostmem.Ptr, wide [2]indexType, base indexBase, kind dataType) (uint64, error) {
	if tooMany(rows, cols, nnz) || indexBad(wide[0]) || indexBad(wide[1]) {
		return 0, invalidValue
	}
	if wide[0] != wide[1] || wide[0] == sparse.CUSPARSE_INDEX_16U {
		return 0, notSupported
	}
	return newMatrix(&sparseMatrix{format: f, rows: rows, cols: cols, nnz: nnz, offsets: uint64(p[0]), indices: uint64(p[1]), values: uint64(p[2]),
		wideOff: wide[0], wide: wide[1], base: base, kind: kind, bm: 1, bn: 1})
}

// tooMany says that a matrix has fewer places than entries.
func tooMany(rows, cols, nnz int64) bool {
	return rows >= 0 && cols >= 0 && (rows == 0 || cols == 0 || nnz/rows > cols || nnz/rows == cols && nnz%rows > 0) && nnz > 0
}

// CreateCoo describes a matrix by two lists of indices.
func (t *Thread) CreateCoo(rows, cols, nnz int64, lines, indices, values hostmem.Ptr, wide indexType, base indexBase, kind dataType) (uint64, error) {
	if tooMany(rows, cols, nnz) {
		return 0, invalidValue
	}
	return newMatrix(&sparseMatrix{format: sparse.CUSPARSE_FORMAT_COO, rows: rows, cols: cols, nnz: nnz, lines: uint64(lines), indices: uint64(indices),
		values: uint64(values), wideOff: wide, wide: wide, base: base, kind: kind, bm: 1, bn: 1})
}

// CreateConstCoo describes one that is only read.
func (t *Thread) CreateConstCoo(rows, cols, nnz int64, lines, indices, values hostmem.Ptr, wide indexType, base indexBase, kind dataType) (uint64, error) {
	return t.CreateCoo(rows, cols, nnz, lines, indices, values, wide, base, kind)
}

// CreateBsr describes a matrix of blocks by rows.
func (t *Thread) CreateBsr(rows, cols, nnz, bm, bn int64, offsets, indices, values hostmem.Ptr, wideOff, wide indexType, base indexBase, kind dataType, o order) (uint64, error) {
	if bm <= 0 || bm != bn || o != sparse.CUSPARSE_ORDER_COL && o != sparse.CUSPARSE_ORDER_ROW || tooMany(rows, cols, nnz) {
		return 0, invalidValue
	}
	return newMatrix(&sparseMatrix{format: sparse.CUSPARSE_FORMAT_BSR, rows: rows * bm, cols: cols * bn, nnz: nnz, offsets: uint64(offsets), indices: uint64(indices),
		values: uint64(values), wideOff: wideOff, wide: wide, base: base, kind: kind, bm: bm, bn: bn, order: o})
}

// CreateConstBsr describes one that is only read.
func (t *Thread) CreateConstBsr(rows, cols, nnz, bm, bn int64, offsets, indices, values hostmem.Ptr, wideOff, wide indexType, base indexBase, kind dataType, o order) (uint64, error) {
	return t.CreateBsr(rows, cols, nnz, bm, bn, offsets, indices, values, wideOff, wide, base, kind, o)
}

// CreateBlockedEll describes a matrix with the same number of blocks in every row of blocks.
func (t *Thread) CreateBlockedEll(rows, cols, block, width int64, indices, values hostmem.Ptr, wide indexType, base indexBase, kind dataType) (uint64, error) {
	if block <= 0 || width < 0 || width > cols || rows%block != 0 || cols%block != 0 || width%block != 0 {
		return 0, invalidValue
	}
	return newMatrix(&sparseMatrix{format: sparse.CUSPARSE_FORMAT_BLOCKED_ELL, rows: rows, cols: cols, nnz: rows * width, indices: uint64(indices), values: uint64(values),
		wideOff: wide, wide: wide, base: base, kind: kind, bm: block, bn: block, order: sparse.CUSPARSE_ORDER_ROW, width: width})
}

// CreateConstBlockedEll describes one that is only read.
func (t *Thread) CreateConstBlockedEll(rows, cols, block, width int64, indices, values hostmem.Ptr, wide indexType, base indexBase, kind dataType) (uint64, error) {
	return t.CreateBlockedEll(rows, cols, block, width, indices, values, wide, base, kind)
}

// CreateSlicedEll describes a matrix in slices of rows of equal length.
func (t *Thread) CreateSlicedEll(rows, cols, nnz, size, slice int64, offsets, indices, values hostmem.Ptr, wideOff, wide indexType, base indexBase, kind dataType) (uint64, error) {
	if slice < 0 || size < nnz || tooMany(rows, cols, nnz) {
		return 0, invalidValue
	}
	return newMatrix(&sparseMatrix{format: sparse.CUSPARSE_FORMAT_SLICED_ELLPACK, rows: rows, cols: cols, nnz: nnz, offsets: uint64(offsets), indices: uint64(indices),
		values: uint64(values), wideOff: wideOff, wide: wide, base: base, kind: kind, bm: 1, bn: 1, width: slice, size: size})
}

// CreateConstSlicedEll describes one that is only read.
func (t *Thread) CreateConstSlicedEll(rows, cols, nnz, size, slice int64, offsets, indices, values hostmem.Ptr, wideOff, wide indexType, base indexBase, kind dataType) (uint64, error) {
	return t.CreateSlicedEll(rows, cols, nnz, size, slice, offsets, indices, values, wideOff, wide, base, kind)
}

// DestroySpMat ends a description.
func (t *Thread) DestroySpMat(m uint64) error { return ended(sparseMatrices, m) }

// ofFormat is a matrix of one of some formats.
func ofFormat(h uint64, fs ...sparse.CusparseFormat_t) (*sparseMatrix, error) {
	m, err := got(sparseMatrices, h)
	if err != nil {
		return nil, err
	}
	for _, f := range fs {
		if m.format == f {
			return m, nil
		}
	}
	return nil, invalidValue
}

func linesGet(h uint64, f sparse.CusparseFormat_t, p [10]hostmem.Ptr) error {
	m, err := ofFormat(h, f)
	if err != nil {
		return err
	}
	return giveAll(give(p[0], m.rows), give(p[1], m.cols), give(p[2], m.nnz), give(p[3], m.offsets), give(p[4], m.indices), give(p[5], m.values),
		give(p[6], m.wideOff), give(p[7], m.wide), give(p[8], m.base), give(p[9], m.kind))
}

// CsrGet says what was described.
func (t *Thread) CsrGet(h uint64, rows, cols, nnz, offsets, indices, values, wideOff, wide, base, kind hostmem.Ptr) error {
	return linesGet(h, sparse.CUSPARSE_FORMAT_CSR, [10]hostmem.Ptr{rows, cols, nnz, offsets, indices, values, wideOff, wide, base, kind})
}

// ConstCsrGet says what was described.
func (t *Thread) ConstCsrGet(h uint64, rows, cols, nnz, offsets, indices, values, wideOff, wide, base, kind hostmem.Ptr) error {
	return t.CsrGet(h, rows, cols, nnz, offsets, indices, values, wideOff, wide, base, kind)
}

// CscGet says what was described.
func (t *Thread) CscGet(h uint64, rows, cols, nnz, offsets, indices, values, wideOff, wide, base, kind hostmem.Ptr) error {
	return linesGet(h, sparse.CUSPARSE_FORMAT_CSC, [10]hostmem.Ptr{rows, cols, nnz, offsets, indices, values, wideOff, wide, base, kind})
}

// ConstCscGet says what was described.
func (t *Thread) ConstCscGet(h uint64, rows, cols, nnz, offsets, indices, values, wideOff, wide, base, kind hostmem.Ptr) error {
	return t.CscGet(h, rows, cols, nnz, offsets, indices, values, wideOff, wide, base, kind)
}

// CooGet says what was described.
func (t *Thread) CooGet(h uint64, rows, cols, nnz, lines, indices, values, wide, base, kind hostmem.Ptr) error {
	m, err := ofFormat(h, sparse.CUSPARSE_FORMAT_COO)
	if err != nil {
		return err
	}
	return giveAll(give(rows, m.rows), give(cols, m.cols), give(nnz, m.nnz), give(lines, m.lines), give(indices, m.indices), give(values, m.values),
		give(wide, m.wide), give(base, m.base), give(kind, m.kind))
}

// ConstCooGet says what was described.
func (t *Thread) ConstCooGet(h uint64, rows, cols, nnz, lines, indices, values, wide, base, kind hostmem.Ptr) error {
	return t.CooGet(h, rows, cols, nnz, lines, indices, values, wide, base, kind)
}

// BlockedEllGet says what was described.
func (t *Thread) BlockedEllGet(h uint64, rows, cols, block, width, indices, values, wide, base, kind hostmem.Ptr) error {
	m, err := ofFormat(h, sparse.CUSPARSE_FORMAT_BLOCKED_ELL)
	if err != nil {
		return err
	}
	return giveAll(give(rows, m.rows), give(cols, m.cols), give(block, m.bm), give(width, m.width), give(indices, m.indices), give(values, m.values),
		give(wide, m.wide), give(base, m.base), give(kind, m.kind))
}

// ConstBlockedEllGet says what was described.
func (t *Thread) ConstBlockedEllGet(h uint64, rows, cols, block, width, indices, values, wide, base, kind hostmem.Ptr) error {
	return t.BlockedEllGet(h, rows, cols, block, width, indices, values, wide, base, kind)
}

// setPointers says where a matrix is now.
func setPointers(h uint64, f sparse.CusparseFormat_t, first, indices, values hostmem.Ptr) error {
	m, err := ofFormat(h, f)
	if err != nil {
		return err
	}
	if f == sparse.CUSPARSE_FORMAT_COO {
		m.lines = uint64(first)
	} else {
		m.offsets = uint64(first)
	}
	m.indices, m.values = uint64(indices), uint64(values)
	return nil
}

// CsrSetPointers says where it is now.
func (t *Thread) CsrSetPointers(h uint64, offsets, indices, values hostmem.Ptr) error {
	return setPointers(h, sparse.CUSPARSE_FORMAT_CSR, offsets, indices, values)
}

// CscSetPointers says where it is now.
func (t *Thread) CscSetPointers(h uint64, offsets, indices, values hostmem.Ptr) error {
	return setPointers(h, sparse.CUSPARSE_FORMAT_CSC, offsets, indices, values)
}

// CooSetPointers says where it is now.
func (t *Thread) CooSetPointers(h uint64, lines, indices, values hostmem.Ptr) error {
	return setPointers(h, sparse.CUSPARSE_FORMAT_COO, lines, indices, values)
}

// SpMatGetFormat is its format.
func (t *Thread) SpMatGetFormat(h uint64, to hostmem.Ptr) error {
	m, err := got(sparseMatrices, h)
	if err != nil {
		return err
	}
	return store(to, m.format)
}

// SpMatGetIndexBase is the number of the first row and column.
func (t *Thread) SpMatGetIndexBase(h uint64, to hostmem.Ptr) error {
	m, err := got(sparseMatrices, h)
	if err != nil {
		return err
	}
	return store(to, m.base)
}

// SpMatGetValues is where its values are.
func (t *Thread) SpMatGetValues(h uint64, to hostmem.Ptr) error {
	m, err := got(sparseMatrices, h)
	if err != nil {
		return err
	}
	return store(to, m.values)
}

// ConstSpMatGetValues is where its values are.
func (t *Thread) ConstSpMatGetValues(h uint64, to hostmem.Ptr) error { return t.SpMatGetValues(h, to) }

// SpMatSetValues says where they are now.
func (t *Thread) SpMatSetValues(h uint64, values hostmem.Ptr) error {
	m, err := got(sparseMatrices, h)
	if err != nil {
		return err
	}
	m.values = uint64(values)
	return nil
}

// SpMatGetSize is its size, of a matrix of blocks too, whose entries are counted with the zeros in blocks.
func (t *Thread) SpMatGetSize(h uint64, rows, cols, nnz hostmem.Ptr) error {
	m, err := got(sparseMatrices, h)
	if err != nil {
		return err
	}
	n := m.nnz
	if m.format == sparse.CUSPARSE_FORMAT_BSR {
		n *= m.bm * m.bn
	}
	return giveAll(give(rows, m.rows), give(cols, m.cols), give(nnz, n))
}

// SpMatGetStridedBatch is the number of matrices.
func (t *Thread) SpMatGetStridedBatch(h uint64, to hostmem.Ptr) error {
	m, err := got(sparseMatrices, h)
	if err != nil {
		return err
	}
	return store(to, m.batch)
}

// setBatch makes it one of a batch; a stride of 0 shares.
func setBatch(h uint64, f sparse.CusparseFormat_t, batch int32, off, ind, val int64) error {
	m, err := ofFormat(h, f)
	if err != nil {
		return err
	}
	lines := m.rows/m.bm + 1
	if f == sparse.CUSPARSE_FORMAT_COO {
		lines = m.nnz
	}
	short := func(step, least int64) bool { return step < 0 || step > 0 && step < least }
	if batch <= 0 || short(off, lines) || short(ind, m.nnz) || short(val, m.nnz*m.bm*m.bn) {
		return invalidValue
	}
	m.batch, m.stepOff, m.stepInd, m.stepVal = batch, off, ind, val
	return nil
}

// CooSetStridedBatch makes it one of a batch.
func (t *Thread) CooSetStridedBatch(h uint64, batch int32, stride int64) error {
	return setBatch(h, sparse.CUSPARSE_FORMAT_COO, batch, stride, stride, stride)
}

// CsrSetStridedBatch makes it one of a batch.
func (t *Thread) CsrSetStridedBatch(h uint64, batch int32, off, stride int64) error {
	return setBatch(h, sparse.CUSPARSE_FORMAT_CSR, batch, off, stride, stride)
}

// BsrSetStridedBatch makes it one of a batch.
func (t *Thread) BsrSetStridedBatch(h uint64, batch int32, off, ind, val int64) error {
	return setBatch(h, sparse.CUSPARSE_FORMAT_BSR, batch, off, ind, val)
}

// SpMatGetAttribute is the triangle, or whether the diagonal is all ones.
func (t *Thread) SpMatGetAttribute(h uint64, a sparse.CusparseSpMatAttribute_t, to hostmem.Ptr, n uint64) error {
	m, err := got(sparseMatrices, h)
	if err != nil {
		return err
	}
	if to == hostmem.Nil || n != 4 {
		return invalidValue
	}
	switch a {
	case sparse.CUSPARSE_SPMAT_FILL_MODE:
		hostmem.Store(to, m.fill)
	case sparse.CUSPARSE_SPMAT_DIAG_TYPE:
		hostmem.Store(to, m.diag)
	default:
		return invalidValue
	}
	return nil
}

// SpMatSetAttribute sets it.
func (t *Thread) SpMatSetAttribute(h uint64, a sparse.CusparseSpMatAttribute_t, from hostmem.Ptr, n uint64) error {
	m, err := got(sparseMatrices, h)
	if err != nil {
		return err
	}
	if from == hostmem.Nil || n != 4 {
		return invalidValue
	}
	v := hostmem.Load[int32](from)
	switch {
	case a == sparse.CUSPARSE_SPMAT_FILL_MODE:
		m.fill = sparse.CusparseFillMode_t(v)
	case a == sparse.CUSPARSE_SPMAT_DIAG_TYPE:
		m.diag = sparse.CusparseDiagType_t(v)
	default:
		return invalidValue
	}
	m.marked = true
	return nil
}
