package cusparse

import (
	"kudzu/internal/shim"
	"kudzu/internal/spec/sparse"
)

// The formats of kernels, FORMAT_ in kernels/device.h.
const (
	formatLines = iota
	formatBlocks
	formatELL
	formatSlices
)

// view is a sparse matrix as kernels see it, struct Sp in kernels/device.h: lines of entries, rows or columns.
type view struct {
	lines, others               int64
	offsets, indices, ends      uint64
	values, perm                uint64
	width                       int64
	format, base                uint32
	wideOff, wide               uint32
	elem                        Elem
	bm, bn, byColumn, conjugate uint32

	most int64 // entries, with padding
}

func (v *view) put(p *shim.Params) *shim.Params {
	p.U64(uint64(v.lines), uint64(v.others), v.offsets, v.indices, v.ends, v.values, v.perm, uint64(v.width))
	return p.U32(v.format, v.base, v.wideOff, v.wide, uint32(v.elem), v.bm, v.bn, v.byColumn, v.conjugate, 0)
}

func flag(v bool) uint32 {
	if v {
		return 1
	}
	return 0
}

func isWide(t indexType) uint32 { return flag(t == sparse.CUSPARSE_INDEX_64I) }

// byColumns says that a matrix is stored by columns.
func (m *sparseMatrix) byColumns() bool { return m.format == sparse.CUSPARSE_FORMAT_CSC }

// stored is a matrix as it is stored; COO has no lines yet.
func (m *sparseMatrix) stored() *view {
	v := &view{lines: m.rows, others: m.cols, offsets: m.offsets, indices: m.indices, values: m.values, base: uint32(m.base), wideOff: isWide(m.wideOff),
		wide: isWide(m.wide), elem: m.elem, bm: uint32(m.bm), bn: uint32(m.bn), most: m.nnz * m.bm * m.bn}
	switch m.format {
	case sparse.CUSPARSE_FORMAT_CSC:
		v.lines, v.others = m.cols, m.rows
	case sparse.CUSPARSE_FORMAT_BSR:
		v.format, v.byColumn = formatBlocks, flag(m.order == sparse.CUSPARSE_ORDER_COL)
	case sparse.CUSPARSE_FORMAT_BLOCKED_ELL:
		v.format, v.width, v.most = formatELL, m.width/m.bm, m.nnz
	case sparse.CUSPARSE_FORMAT_SLICED_ELLPACK:
		v.format, v.width, v.most = formatSlices, m.width, m.size
	}
	return v
}

// rows is the matrix, or its transpose, by rows: as it is stored if that is so, or listed anew.
func (c *call) rows(m *sparseMatrix, transposed bool) (*view, error) {
	v := m.stored()
	if m.format == sparse.CUSPARSE_FORMAT_COO {
		return c.bucket(m, transposed)
	}
	if transposed == m.byColumns() {
		return v, nil
	}
	return c.transpose(v)
}

// transpose lists the entries of a view by position.
func (c *call) transpose(v *view) (*view, error) {
	s, err := c.scratches((v.others+1)*8, v.most*8, v.most*8)
	if err != nil {
		return nil, err
	}
	if err := c.single(convertKernels, "transpose", v.put(&shim.Params{}).U64(s...)); err != nil {
		return nil, err
	}
	return &view{lines: v.others, others: v.lines, offsets: s[0], indices: s[1], perm: s[2], values: v.values, wideOff: 1, wide: 1, elem: v.elem, bm: 1, bn: 1,
		conjugate: v.conjugate, most: v.most}, nil
}

// bucket lists the entries of COO by rows, or by columns.
func (c *call) bucket(m *sparseMatrix, byColumns bool) (*view, error) {
	lines, others, keys, along := m.rows, m.cols, m.lines, m.indices
	if byColumns {
		lines, others, keys, along = others, lines, along, keys
	}
	s, err := c.scratches((lines+1)*8, m.nnz*8, m.nnz*8)
	if err != nil {
		return nil, err
	}
	p := (&shim.Params{}).U64(keys, along).U32(isWide(m.wide)).U64(uint64(m.base), uint64(m.nnz), uint64(lines)).U64(s...)
	if err := c.single(convertKernels, "bucket", p); err != nil {
		return nil, err
	}
	return &view{lines: lines, others: others, offsets: s[0], indices: s[1], perm: s[2], values: m.values, wideOff: 1, wide: 1, elem: m.elem, bm: 1, bn: 1,
		most: m.nnz}, nil
}

// dense is a dense matrix as kernels see it, struct Dn.
type dense struct {
	base        uint64
	down, right int64
	elem        Elem
	conjugate   bool
}

func (d dense) put(p *shim.Params) *shim.Params {
	return p.U64(d.base, uint64(d.down), uint64(d.right)).U32(uint32(d.elem), flag(d.conjugate))
}

// transposed is the view of the same elements with rows for columns.
func (d dense) transposed() dense {
	d.down, d.right = d.right, d.down
	return d
}

func (v *denseVector) view() dense {
	return dense{base: v.values, down: 1, right: v.size, elem: v.elem}
}

func (m *denseMatrix) view() dense {
	d := dense{base: m.values, down: 1, right: m.ld, elem: m.elem}
	if m.order == sparse.CUSPARSE_ORDER_ROW {
		return d.transposed()
	}
	return d
}

// under is the view of op of the matrix, and its size.
func (m *denseMatrix) under(op operation) (d dense, rows, cols int64) {
	d = m.view()
	if op == sparse.CUSPARSE_OPERATION_NON_TRANSPOSE {
		return d, m.rows, m.cols
	}
	d = d.transposed()
	d.conjugate = op == sparse.CUSPARSE_OPERATION_CONJUGATE_TRANSPOSE
	return d, m.cols, m.rows
}

// sizeUnder is that of op of the matrix.
func (m *sparseMatrix) sizeUnder(op operation) (rows, cols int64) {
	if op == sparse.CUSPARSE_OPERATION_NON_TRANSPOSE {
		return m.rows, m.cols
	}
	return m.cols, m.rows
}

// under is op of the matrix by rows.
func (c *call) under(m *sparseMatrix, op operation) (*view, error) {
	v, err := c.rows(m, op != sparse.CUSPARSE_OPERATION_NON_TRANSPOSE)
	if err == nil {
		v.conjugate = flag(op == sparse.CUSPARSE_OPERATION_CONJUGATE_TRANSPOSE)
	}
	return v, err
}

func opBad(ops ...operation) bool {
	for _, o := range ops {
		if o < sparse.CUSPARSE_OPERATION_NON_TRANSPOSE || o > sparse.CUSPARSE_OPERATION_CONJUGATE_TRANSPOSE {
			return true
		}
	}
	return false
}

// put lays a sparse vector out, struct Sv.
func (v *sparseVector) put(p *shim.Params) *shim.Params {
	return p.U64(uint64(v.nnz), v.indices, v.values).U32(uint32(v.base), isWide(v.wide), uint32(v.elem), uint32(v.elem.Size()))
}

// entries are where a kernel puts a matrix, struct Out.
type entries struct {
	offsets, indices, lines, values uint64
	wideOff, wide, base             uint32
	elem                            Elem
}

func (o entries) put(p *shim.Params) *shim.Params {
	return p.U64(o.offsets, o.indices, o.lines, o.values).U32(o.wideOff, o.wide, o.base, uint32(o.elem.Size()))
}

// scan makes offsets of counts, and gives where their sum is.
func (c *call) scan(counts uint64, n int64, offsets uint64, wide, base uint32) (total uint64, err error) {
	if total, err = c.scratch(8); err != nil {
		return 0, err
	}
	return total, c.single(convertKernels, "scan", (&shim.Params{}).U64(counts, uint64(n), offsets).U32(wide).U64(uint64(base), total))
}

// nth is matrix i of a batch.
func (m *sparseMatrix) nth(i int32) *sparseMatrix {
	n := *m
	size := func(t indexType) uint64 { return 4 + 4*uint64(isWide(t)) }
	k := uint64(i)
	n.offsets += k * uint64(m.stepOff) * size(m.wideOff)
	n.lines += k * uint64(m.stepOff) * size(m.wide)
	n.indices += k * uint64(m.stepInd) * size(m.wide)
	n.values += k * uint64(m.stepVal) * uint64(m.elem.Size())
	return &n
}

// nth is matrix i of a batch.
func (m *denseMatrix) nth(i int32) *denseMatrix {
	n := *m
	n.values += uint64(i) * uint64(m.stride) * uint64(m.elem.Size())
	return &n
}
