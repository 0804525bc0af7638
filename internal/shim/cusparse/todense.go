package cusparse

import (
	"kudzu/internal/hostmem"
	"kudzu/internal/shim"
	"kudzu/internal/shim/cublas"
	"kudzu/internal/spec/sparse"
)

// twin finds a sparse and a dense matrix of the same size and type.
func twin(m, d uint64) (*sparseMatrix, *denseMatrix, error) {
	a, err1 := got(sparseMatrices, m)
	b, err2 := got(matrices, d)
	if err1 != nil || err2 != nil || a.rows != b.rows || a.cols != b.cols || a.elem != b.elem {
		return nil, nil, invalidValue
	}
	if a.marked || !a.usable() || a.elem == none {
		return nil, nil, notSupported
	}
	return a, b, nil
}

func toDense(m, d uint64, alg sparse.CusparseSparseToDenseAlg_t) (*sparseMatrix, *denseMatrix, error) {
	if alg != sparse.CUSPARSE_SPARSETODENSE_ALG_DEFAULT {
		return nil, nil, invalidValue
	}
	a, b, err := twin(m, d)
	if err != nil {
		return nil, nil, err
	}
	switch a.format {
	case sparse.CUSPARSE_FORMAT_CSR, sparse.CUSPARSE_FORMAT_CSC, sparse.CUSPARSE_FORMAT_COO:
	default:
		return nil, nil, notSupported
	}
	return a, b, nil
}

// SparseToDenseBufferSize is nothing: the handle has the memory.
func (t *Thread) SparseToDenseBufferSize(h, m, d uint64, alg sparse.CusparseSparseToDenseAlg_t) (uint64, error) {
	if _, err := find(h); err != nil {
		return 0, err
	}
	_, _, err := toDense(m, d, alg)
	return 0, err
}

// SparseToDense writes a sparse matrix as a dense one.
func (t *Thread) SparseToDense(h, m, d uint64, alg sparse.CusparseSparseToDenseAlg_t, _ hostmem.Ptr) error {
	return t.work(h, func(c *call) error {
		a, b, err := toDense(m, d, alg)
		if err != nil {
			return err
		}
		if a.elem == S32 {
			return internalError // as the vendor's
		}
		if done, err := c.elsewhere(func() *Work {
			return &Work{Name: "sparse_to_dense", Sparse: a.outside(), Dense: []*Dense{b.outside()}}
		}); done {
			return err
		}
		size := uint32(a.elem.Size())
		p := b.view().put(&shim.Params{}).U64(uint64(b.rows), uint64(b.cols)).U32(size)
		if err := c.launch(convertKernels, "clear", b.rows*b.cols, p); err != nil {
			return err
		}
		v := a.stored()
		if a.format == sparse.CUSPARSE_FORMAT_COO {
			if v, err = c.bucket(a, false); err != nil {
				return err
			}
		}
		p = b.view().put(v.put(&shim.Params{})).U32(flag(a.byColumns()), size)
		return c.launch(convertKernels, "spread", v.lines, p)
	})
}

func toSparse(d, m uint64, alg sparse.CusparseDenseToSparseAlg_t) (*denseMatrix, *sparseMatrix, error) {
	if alg != sparse.CUSPARSE_DENSETOSPARSE_ALG_DEFAULT {
		return nil, nil, invalidValue
	}
	a, b, err := twin(m, d)
	if err == nil && (a.format == sparse.CUSPARSE_FORMAT_SLICED_ELLPACK || a.format == sparse.CUSPARSE_FORMAT_BSR) {
		return nil, nil, notSupported
	}
	return b, a, err
}

// DenseToSparseBufferSize is nothing: the handle has the memory.
func (t *Thread) DenseToSparseBufferSize(h, d, m uint64, alg sparse.CusparseDenseToSparseAlg_t) (uint64, error) {
	if _, err := find(h); err != nil {
		return 0, err
	}
	_, _, err := toSparse(d, m, alg)
	return 0, err
}

// counted counts the entries of each line of a dense matrix that go into a sparse one, and makes offsets of them.
func (c *call) counted(b dense, rows, cols int64, threshold cublas.Scalar, prune bool, offsets uint64, wide, base uint32) (total uint64, err error) {
	counts, err := c.scratch(rows * 8)
	if err != nil {
		return 0, err
	}
	p := b.put(&shim.Params{}).U64(uint64(rows), uint64(cols), counts)
	threshold.Put(p)
	p.U32(flag(prune))
	if err := c.launch(convertKernels, form("count", b.elem), rows, p); err != nil {
		return 0, err
	}
	return c.scan(counts, rows, offsets, wide, base)
}

// byLines is a dense matrix with its lines as those of a sparse one.
func byLines(b *denseMatrix, m *sparseMatrix) (d dense, lines, others int64) {
	if m.byColumns() {
		return b.view().transposed(), b.cols, b.rows
	}
	return b.view(), b.rows, b.cols
}

// DenseToSparseAnalysis finds how many entries there are; the description says it afterwards. CSR and CSC have their offsets then.
func (t *Thread) DenseToSparseAnalysis(h, d, m uint64, alg sparse.CusparseDenseToSparseAlg_t, _ hostmem.Ptr) error {
	return t.work(h, func(c *call) error {
		b, a, err := toSparse(d, m, alg)
		if err != nil {
			return err
		}
		if a.elem == S32 {
			return notSupported
		}
		if a.format == sparse.CUSPARSE_FORMAT_BLOCKED_ELL {
			return nil // it has its blocks
		}
		view, lines, others := byLines(b, a)
		offsets, wide := a.offsets, isWide(a.wideOff)
		if a.format == sparse.CUSPARSE_FORMAT_COO {
			wide = 1
			if offsets, err = c.scratch((lines + 1) * 8); err != nil {
				return err
			}
		}
		total, err := c.counted(view, lines, others, cublas.Scalar{}, false, offsets, wide, uint32(a.base))
		if err != nil {
			return err
		}
		a.nnz, err = c.read(total)
		return err
	})
}

// DenseToSparseConvert writes the entries.
func (t *Thread) DenseToSparseConvert(h, d, m uint64, alg sparse.CusparseDenseToSparseAlg_t, _ hostmem.Ptr) error {
	return t.work(h, func(c *call) error {
		b, a, err := toSparse(d, m, alg)
		if err != nil {
			return err
		}
		if a.elem == S32 {
			return notSupported
		}
		if done, err := c.elsewhere(func() *Work { return &Work{Name: "dense_to_sparse", Sparse: a.outside(), Dense: []*Dense{b.outside()}} }); done {
			return err
		}
		if a.format == sparse.CUSPARSE_FORMAT_BLOCKED_ELL {
			v := a.stored()
			return c.launch(convertKernels, "take", v.lines, b.view().put(v.put(&shim.Params{})).U32(uint32(a.elem.Size())))
		}
		view, lines, others := byLines(b, a)
		o := entries{offsets: a.offsets, indices: a.indices, values: a.values, wideOff: isWide(a.wideOff), wide: isWide(a.wide), base: uint32(a.base), elem: a.elem}
		if a.format == sparse.CUSPARSE_FORMAT_COO {
			o.lines, o.wideOff = a.lines, 1
			if o.offsets, err = c.scratch((lines + 1) * 8); err != nil {
				return err
			}
		}
		if _, err := c.counted(view, lines, others, cublas.Scalar{}, false, o.offsets, o.wideOff, o.base); err != nil {
			return err
		}
		return c.collect(view, lines, others, o, cublas.Scalar{}, false)
	})
}

// collect writes the entries of a dense matrix behind the offsets.
func (c *call) collect(b dense, rows, cols int64, o entries, threshold cublas.Scalar, prune bool) error {
	p := o.put(b.put(&shim.Params{}).U64(uint64(rows), uint64(cols)))
	threshold.Put(p)
	p.U32(flag(prune))
	return c.launch(convertKernels, form("collect", b.elem), rows, p)
}
