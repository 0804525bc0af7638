package cusparse

import (
	"kudzu/internal/hostmem"
	"kudzu/internal/shim"
	"kudzu/internal/shim/cublas"
	"kudzu/internal/spec/sparse"
)

// Xcoo2csr makes offsets of sorted row indices.
func (t *Thread) Xcoo2csr(h uint64, rows hostmem.Ptr, nnz, m int32, offsets hostmem.Ptr, base indexBase) error {
	return t.older(h, func(c *call) error {
		if nnz < 0 || m < 0 || baseBad(base) {
			return invalidValue
		}
		p := (&shim.Params{}).U64(uint64(rows), uint64(nnz), uint64(m), uint64(offsets)).U32(uint32(base))
		return c.launch(convertKernels, "compress_rows", int64(m)+1, p)
	})
}

// Xcsr2coo makes row indices of offsets.
func (t *Thread) Xcsr2coo(h uint64, offsets hostmem.Ptr, nnz, m int32, rows hostmem.Ptr, base indexBase) error {
	return t.older(h, func(c *call) error {
		if nnz < 0 || m < 0 || baseBad(base) {
			return invalidValue
		}
		return c.launch(convertKernels, "expand_rows", int64(m), (&shim.Params{}).U64(uint64(offsets), uint64(m), uint64(rows)).U32(uint32(base)))
	})
}

// CreateIdentityPermutation is 0, 1, 2, …
func (t *Thread) CreateIdentityPermutation(h uint64, n int32, p hostmem.Ptr) error {
	return t.older(h, func(c *call) error {
		if n < 0 || n > 0 && p == hostmem.Nil {
			return invalidValue
		}
		return c.launch(convertKernels, "identity", int64(n), (&shim.Params{}).U64(uint64(p), uint64(n)))
	})
}

// csr2csc says what is wrong with a transposition.
func csr2csc(m, n, nnz int32, offsets, indices hostmem.Ptr, kind dataType, copied action, base indexBase, alg sparse.CusparseCsr2CscAlg_t) (Elem, error) {
	e, err := elemOf(kind)
	if err != nil || e == none || m < 0 || n < 0 || nnz < 0 || baseBad(base) || alg != sparse.CUSPARSE_CSR2CSC_ALG1 || copied < 0 || copied > sparse.CUSPARSE_ACTION_NUMERIC {
		return 0, invalidValue
	}
	if nnz > 0 && (offsets == hostmem.Nil || indices == hostmem.Nil) {
		return 0, invalidValue
	}
	return e, nil
}

// Csr2cscEx2BufferSize says how much memory is wanted.
func (t *Thread) Csr2cscEx2BufferSize(h uint64, m, n, nnz int32, _, offsets, indices, _, _, _ hostmem.Ptr, kind dataType, copied action, base indexBase, alg sparse.CusparseCsr2CscAlg_t) (uint64, error) {
	if _, err := find(h); err != nil {
		return 0, notInitialized
	}
	_, err := csr2csc(m, n, nnz, offsets, indices, kind, copied, base, alg)
	return 16, err
}

// Csr2cscEx2 makes columns of rows.
func (t *Thread) Csr2cscEx2(h uint64, m, n, nnz int32, values, offsets, indices, toValues, toOffsets, toIndices hostmem.Ptr, kind dataType, copied action, base indexBase, alg sparse.CusparseCsr2CscAlg_t, _ hostmem.Ptr) error {
	return t.older(h, func(c *call) error {
		e, err := csr2csc(m, n, nnz, offsets, indices, kind, copied, base, alg)
		if err != nil {
			return err
		}
		if copied == sparse.CUSPARSE_ACTION_SYMBOLIC {
			toValues = hostmem.Nil
		}
		v := linesOf(m, n, nnz, description{Base: base}, values, offsets, indices, e)
		return c.turn(v, toOffsets, toIndices, toValues, uint32(base), uint32(e.Size()), 1)
	})
}

// turn writes a view by columns; each entry has n values behind each other.
func (c *call) turn(v *view, offsets, indices, values hostmem.Ptr, base, size, n uint32) error {
	w, err := c.transpose(v)
	if err != nil {
		return err
	}
	p := (&shim.Params{}).U64(w.offsets, w.indices, w.perm, uint64(w.lines), uint64(offsets), uint64(indices), v.values, uint64(values)).U32(0, base, size, n)
	return c.launch(convertKernels, "emit", max(w.most, w.lines+1), p)
}

// Gebsr2gebscBufferSize says how much memory is wanted.
func (t *Thread) Gebsr2gebscBufferSize(h uint64, mb, nb, nnzb int32, _, _, _ hostmem.Ptr, bm, bn int32, _ Elem) (int32, error) {
	return 16, t.sizeOf(h, mb, nb, nnzb, bm-1, bn-1)
}

// Gebsr2gebsc makes columns of blocks of rows of blocks; the blocks stay as they are.
func (t *Thread) Gebsr2gebsc(h uint64, mb, nb, nnzb int32, values, offsets, indices hostmem.Ptr, bm, bn int32, toValues, toIndices, toOffsets hostmem.Ptr, copied action, base indexBase, _ hostmem.Ptr, e Elem) error {
	return t.older(h, func(c *call) error {
		if mb < 0 || nb < 0 || nnzb < 0 || bm < 1 || bn < 1 || baseBad(base) {
			return invalidValue
		}
		if copied == sparse.CUSPARSE_ACTION_SYMBOLIC {
			toValues = hostmem.Nil
		}
		v := linesOf(mb, nb, nnzb, description{Base: base}, values, offsets, indices, e)
		return c.turn(v, toOffsets, toIndices, toValues, uint32(base), uint32(e.Size()), uint32(bm*bn))
	})
}

// reblock is a conversion to blocks.
type reblock struct {
	v      *view
	dir    direction
	base   indexBase
	bm, bn int32
}

// reblock counts blocks, or writes them.
func (c *call) reblock(r *reblock, counts, offsets, indices, values uint64) error {
	cursors, err := c.scratch(r.v.lines * 8)
	if err != nil {
		return err
	}
	p := r.v.put(&shim.Params{}).U64(cursors, offsets, indices, values, counts)
	p.U32(uint32(r.base), uint32(r.bm), uint32(r.bn), flag(r.dir == sparse.CUSPARSE_DIRECTION_COLUMN), uint32(r.v.elem.Size()), 0)
	return c.launch(convertKernels, "reblock", (r.v.lines+int64(r.bm)-1)/int64(r.bm), p)
}

// blockCount makes the offsets of the blocks, and answers how many there are.
func (c *call) blockCount(r *reblock, offsets, total hostmem.Ptr) error {
	lines := (r.v.lines + int64(r.bm) - 1) / int64(r.bm)
	counts, err := c.scratch(lines * 8)
	if err != nil {
		return err
	}
	if err := c.reblock(r, counts, 0, 0, 0); err != nil {
		return err
	}
	sum, err := c.scan(counts, lines, uint64(offsets), 0, uint32(r.base))
	if err != nil || total == hostmem.Nil {
		return err
	}
	return c.answer(sum, total)
}

// toBlocks finds the operands of a conversion of lines to blocks.
func toBlocks(dir direction, m, n int32, descrA uint64, values, offsets, indices hostmem.Ptr, bm, bn int32, descrC uint64, e Elem) (*reblock, error) {
	a, err1 := described(descrA)
	d, err2 := described(descrC)
	if err1 != nil || err2 != nil || m < 0 || n < 0 || bm < 1 || bn < 1 || dir < 0 || dir > sparse.CUSPARSE_DIRECTION_COLUMN {
		return nil, invalidValue
	}
	return &reblock{v: linesOf(m, n, 0, a, values, offsets, indices, e), dir: dir, base: d.Base, bm: bm, bn: bn}, nil
}

// Xcsr2bsrNnz makes the offsets of blocks, and answers how many there are.
func (t *Thread) Xcsr2bsrNnz(h uint64, dir direction, m, n int32, descrA uint64, offsets, indices hostmem.Ptr, block int32, descrC uint64, toOffsets, total hostmem.Ptr) error {
	return t.Xcsr2gebsrNnz(h, dir, m, n, descrA, offsets, indices, descrC, toOffsets, block, block, total, hostmem.Nil)
}

// Csr2bsr writes the blocks.
func (t *Thread) Csr2bsr(h uint64, dir direction, m, n int32, descrA uint64, values, offsets, indices hostmem.Ptr, block int32, descrC uint64, toValues, toOffsets, toIndices hostmem.Ptr, e Elem) error {
	return t.Csr2gebsr(h, dir, m, n, descrA, values, offsets, indices, descrC, toValues, toOffsets, toIndices, block, block, hostmem.Nil, e)
}

// Csr2gebsrBufferSize says how much memory is wanted.
func (t *Thread) Csr2gebsrBufferSize(h uint64, _ direction, m, n int32, _ uint64, _, _, _ hostmem.Ptr, bm, bn int32, _ Elem) (int32, error) {
	return 16, t.sizeOf(h, m, n, bm-1, bn-1)
}

// Xcsr2gebsrNnz makes the offsets of blocks, and answers how many there are.
func (t *Thread) Xcsr2gebsrNnz(h uint64, dir direction, m, n int32, descrA uint64, offsets, indices hostmem.Ptr, descrC uint64, toOffsets hostmem.Ptr, bm, bn int32, total, _ hostmem.Ptr) error {
	return t.older(h, func(c *call) error {
		r, err := toBlocks(dir, m, n, descrA, hostmem.Nil, offsets, indices, bm, bn, descrC, F32)
		if err != nil {
			return err
		}
		return c.blockCount(r, toOffsets, total)
	})
}

// Csr2gebsr writes the blocks.
func (t *Thread) Csr2gebsr(h uint64, dir direction, m, n int32, descrA uint64, values, offsets, indices hostmem.Ptr, descrC uint64, toValues, toOffsets, toIndices hostmem.Ptr, bm, bn int32, _ hostmem.Ptr, e Elem) error {
	return t.older(h, func(c *call) error {
		r, err := toBlocks(dir, m, n, descrA, values, offsets, indices, bm, bn, descrC, e)
		if err != nil {
			return err
		}
		return c.reblock(r, 0, uint64(toOffsets), uint64(toIndices), uint64(toValues))
	})
}

// Bsr2csr writes blocks as lines, with their zeros.
func (t *Thread) Bsr2csr(h uint64, dir direction, mb, nb int32, descrA uint64, values, offsets, indices hostmem.Ptr, block int32, descrC uint64, toValues, toOffsets, toIndices hostmem.Ptr, e Elem) error {
	return t.Gebsr2csr(h, dir, mb, nb, descrA, values, offsets, indices, block, block, descrC, toValues, toOffsets, toIndices, e)
}

// Gebsr2csr writes blocks as lines, with their zeros.
func (t *Thread) Gebsr2csr(h uint64, dir direction, mb, nb int32, descrA uint64, values, offsets, indices hostmem.Ptr, bm, bn int32, descrC uint64, toValues, toOffsets, toIndices hostmem.Ptr, e Elem) error {
	return t.older(h, func(c *call) error {
		a, err1 := described(descrA)
		d, err2 := described(descrC)
		if err1 != nil || err2 != nil || mb < 0 || nb < 0 || bm < 1 || bn < 1 || dir < 0 || dir > sparse.CUSPARSE_DIRECTION_COLUMN {
			return invalidValue
		}
		v := blocksOf(dir, mb, nb, 0, a, values, offsets, indices, bm, bn, e)
		o := entries{offsets: uint64(toOffsets), indices: uint64(toIndices), values: uint64(toValues), base: uint32(d.Base), elem: e}
		return c.launch(convertKernels, "unblock", v.lines, o.put(v.put(&shim.Params{})))
	})
}

// Gebsr2gebsrBufferSize says how much memory is wanted.
func (t *Thread) Gebsr2gebsrBufferSize(h uint64, _ direction, mb, nb, nnzb int32, _ uint64, _, _, _ hostmem.Ptr, bm, bn, toBm, toBn int32, _ Elem) (int32, error) {
	return 16, t.sizeOf(h, mb, nb, nnzb, bm-1, bn-1, toBm-1, toBn-1)
}

func betweenBlocks(dir direction, b blockArgs, bm, bn int32, descrC uint64, toBm, toBn int32, e Elem) (*reblock, error) {
	b.block = min(bm, bn, toBm, toBn)
	a, err := b.check()
	if err != nil {
		return nil, err
	}
	d, err := described(descrC)
	if err != nil {
		return nil, err
	}
	return &reblock{v: blocksOf(dir, b.mb, b.nb, b.nnzb, a, b.values, b.offsets, b.indices, bm, bn, e), dir: dir, base: d.Base, bm: toBm, bn: toBn}, nil
}

// Xgebsr2gebsrNnz makes the offsets of blocks of another size, and answers how many there are.
func (t *Thread) Xgebsr2gebsrNnz(h uint64, dir direction, mb, nb, nnzb int32, descrA uint64, offsets, indices hostmem.Ptr, bm, bn int32, descrC uint64, toOffsets hostmem.Ptr, toBm, toBn int32, total, _ hostmem.Ptr) error {
	return t.older(h, func(c *call) error {
		r, err := betweenBlocks(dir, blockArgs{dir, mb, nb, nnzb, 1, descrA, hostmem.Nil, offsets, indices}, bm, bn, descrC, toBm, toBn, F32)
		if err != nil {
			return err
		}
		return c.blockCount(r, toOffsets, total)
	})
}

// Gebsr2gebsr writes blocks of another size.
func (t *Thread) Gebsr2gebsr(h uint64, dir direction, mb, nb, nnzb int32, descrA uint64, values, offsets, indices hostmem.Ptr, bm, bn int32, descrC uint64, toValues, toOffsets, toIndices hostmem.Ptr, toBm, toBn int32, _ hostmem.Ptr, e Elem) error {
	return t.older(h, func(c *call) error {
		r, err := betweenBlocks(dir, blockArgs{dir, mb, nb, nnzb, 1, descrA, values, offsets, indices}, bm, bn, descrC, toBm, toBn, e)
		if err != nil {
			return err
		}
		return c.reblock(r, 0, uint64(toOffsets), uint64(toIndices), uint64(toValues))
	})
}

// Nnz counts what is not zero in the rows or columns of a dense matrix.
func (t *Thread) Nnz(h uint64, dir direction, m, n int32, descr uint64, a hostmem.Ptr, lda int32, per, total hostmem.Ptr, e Elem) error {
	return t.older(h, func(c *call) error {
		if _, err := described(descr); err != nil || m < 0 || n < 0 || lda < max(1, m) || dir < 0 || dir > sparse.CUSPARSE_DIRECTION_COLUMN || total == hostmem.Nil {
			return invalidValue
		}
		d, lines, others := dense{base: uint64(a), down: 1, right: int64(lda), elem: e}, int64(m), int64(n)
		if dir == sparse.CUSPARSE_DIRECTION_COLUMN {
			d, lines, others = d.transposed(), others, lines
		}
		counts, err := c.scratch(lines * 8)
		if err != nil {
			return err
		}
		p := d.put(&shim.Params{}).U64(uint64(lines), uint64(others), counts)
		cublas.Scalar{}.Put(p)
		if err := c.launch(convertKernels, form("count", e), lines, p.U32(0)); err != nil {
			return err
		}
		return c.counts(counts, lines, per, total)
	})
}

// counts writes counts for the caller, and answers their sum.
func (c *call) counts(counts uint64, n int64, per, total hostmem.Ptr) error {
	if err := c.launch(convertKernels, "narrow_all", n, (&shim.Params{}).U64(counts, uint64(per), uint64(n))); err != nil {
		return err
	}
	offsets, err := c.scratch((n + 1) * 8)
	if err != nil {
		return err
	}
	sum, err := c.scan(counts, n, offsets, 1, 0)
	if err != nil {
		return err
	}
	return c.answer(sum, total)
}
