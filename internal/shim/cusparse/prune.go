package cusparse

import (
	"math"

	"kudzu/internal/hostmem"
	"kudzu/internal/shim"
	"kudzu/internal/shim/cublas"
	"kudzu/internal/spec/rt"
)

// Pruning keeps the entries whose size is above a threshold: of a dense matrix, or of a sparse one. By percentage, the threshold is
// the size that this share of the elements does not exceed.

// kept counts the entries of each line that stay, or copies them.
func (c *call) kept(v *view, threshold cublas.Scalar, counts uint64, o entries) error {
	p := o.put(v.put(&shim.Params{}).U64(counts))
	threshold.Put(p)
	return c.launch(convertKernels, form("keep", v.elem), v.lines, p)
}

func (t *Thread) compressCount(h uint64, m int32, descr uint64, values, offsets, per, total hostmem.Ptr, tol float64, e Elem) error {
	return t.older(h, func(c *call) error {
		d, err := described(descr)
		if err != nil || m < 0 || tol < 0 {
			return invalidValue
		}
		counts, err := c.scratch(int64(m) * 8)
		if err != nil {
			return err
		}
		v := linesOf(m, math.MaxInt32, 0, d, values, offsets, offsets, e) // positions do not matter
		if err := c.kept(v, cublas.Scalar{Re: tol}, counts, entries{elem: e}); err != nil {
			return err
		}
		return c.counts(counts, int64(m), per, total)
	})
}

func (t *Thread) compress(h uint64, m, n int32, descr uint64, values, indices, offsets, toValues, toIndices, toOffsets hostmem.Ptr, tol float64, e Elem) error {
	return t.older(h, func(c *call) error {
		d, err := described(descr)
		if err != nil || m < 0 || n < 0 || tol < 0 {
			return invalidValue
		}
		counts, err := c.scratch(int64(m) * 8)
		if err != nil {
			return err
		}
		v := linesOf(m, n, 0, d, values, offsets, indices, e)
		if err := c.kept(v, cublas.Scalar{Re: tol}, counts, entries{elem: e}); err != nil {
			return err
		}
		if _, err := c.scan(counts, int64(m), uint64(toOffsets), 0, uint32(d.Base)); err != nil {
			return err
		}
		return c.kept(v, cublas.Scalar{Re: tol}, 0, entries{offsets: uint64(toOffsets), indices: uint64(toIndices), values: uint64(toValues), base: uint32(d.Base), elem: e})
	})
}

// SnnzCompress counts what is above a tolerance.
func (t *Thread) SnnzCompress(h uint64, m int32, descr uint64, values, offsets, per, total hostmem.Ptr, tol float32) error {
	return t.compressCount(h, m, descr, values, offsets, per, total, float64(tol), F32)
}

// DnnzCompress counts what is above a tolerance.
func (t *Thread) DnnzCompress(h uint64, m int32, descr uint64, values, offsets, per, total hostmem.Ptr, tol float64) error {
	return t.compressCount(h, m, descr, values, offsets, per, total, tol, F64)
}

// Scsr2csrCompress copies what is above a tolerance.
func (t *Thread) Scsr2csrCompress(h uint64, m, n int32, descr uint64, values, indices, offsets hostmem.Ptr, _ int32, _, toValues, toIndices, toOffsets hostmem.Ptr, tol float32) error {
	return t.compress(h, m, n, descr, values, indices, offsets, toValues, toIndices, toOffsets, float64(tol), F32)
}

// Dcsr2csrCompress copies what is above a tolerance.
func (t *Thread) Dcsr2csrCompress(h uint64, m, n int32, descr uint64, values, indices, offsets hostmem.Ptr, _ int32, _, toValues, toIndices, toOffsets hostmem.Ptr, tol float64) error {
	return t.compress(h, m, n, descr, values, indices, offsets, toValues, toIndices, toOffsets, tol, F64)
}

// pruned is a matrix to prune, dense or by rows, and what of it stays.
type pruned struct {
	dense      dense
	v          *view // nil: dense
	rows, cols int64
	base       uint32
	threshold  cublas.Scalar
	e          Elem
}

// pruneCount makes the offsets, and answers how many entries stay.
func (c *call) pruneCount(p *pruned, offsets, total hostmem.Ptr) error {
	if p.v == nil {
		at, err := c.counted(p.dense, p.rows, p.cols, p.threshold, true, uint64(offsets), 0, p.base)
		if err != nil {
			return err
		}
		return c.answer(at, total)
	}
	counts, err := c.scratch(p.rows * 8)
	if err != nil {
		return err
	}
	if err := c.kept(p.v, p.threshold, counts, entries{elem: p.e}); err != nil {
		return err
	}
	at, err := c.scan(counts, p.rows, uint64(offsets), 0, p.base)
	if err != nil {
		return err
	}
	return c.answer(at, total)
}

// pruneWrite copies the entries that stay.
func (c *call) pruneWrite(p *pruned, values, offsets, indices hostmem.Ptr) error {
	o := entries{offsets: uint64(offsets), indices: uint64(indices), values: uint64(values), base: p.base, elem: p.e}
	if p.v == nil {
		return c.collect(p.dense, p.rows, p.cols, o, p.threshold, true)
	}
	return c.kept(p.v, p.threshold, 0, o)
}

// pruneDense describes a dense matrix.
func pruneDense(m, n int32, a hostmem.Ptr, lda int32, descrC uint64, e Elem) (*pruned, error) {
	d, err := described(descrC)
	if err != nil || m < 0 || n < 0 || lda < max(1, m) {
		return nil, invalidValue
	}
	return &pruned{dense: dense{base: uint64(a), down: 1, right: int64(lda), elem: e}, rows: int64(m), cols: int64(n), base: uint32(d.Base), e: e}, nil
}

// pruneLines describes a sparse one.
func pruneLines(m, n, nnz int32, descrA uint64, values, offsets, indices hostmem.Ptr, descrC uint64, e Elem) (*pruned, error) {
	a, err1 := described(descrA)
	d, err2 := described(descrC)
	if err1 != nil || err2 != nil || m < 0 || n < 0 || nnz < 0 {
		return nil, invalidValue
	}
	return &pruned{dense: dense{base: uint64(values), down: 1, right: int64(nnz), elem: e}, v: linesOf(m, n, nnz, a, values, offsets, indices, e), rows: int64(m), cols: int64(n),
		base: uint32(d.Base), e: e}, nil
}

// by finds the threshold of a percentage.
func (c *call) by(p *pruned, percentage float32) error {
	if !(percentage >= 0 && percentage <= 100) {
		return invalidValue
	}
	rows, cols := p.rows, p.cols
	if p.v != nil {
		rows, cols = p.dense.right, 1
	}
	n := rows * cols
	which := int64(math.Ceil(float64(n)*float64(percentage/100))) - 1 // the share is an f32, as the vendor's
	s, err := c.scratches(n*8, 16)
	if err != nil {
		return err
	}
	q := p.dense.put(&shim.Params{}).U64(uint64(rows), uint64(cols), s[0], uint64(min(max(which, 0), max(n-1, 0))), s[1]).U32(uint32(F64))
	p.threshold = cublas.Scalar{At: s[1], Type: F64}
	return c.single(convertKernels, "nth_size", q)
}

// prunes runs f on a matrix whose threshold is known.
func (t *Thread) prunes(h uint64, p *pruned, err error, threshold hostmem.Ptr, f func(c *call) error) error {
	return t.older(h, func(c *call) error {
		if err != nil {
			return err
		}
		if p.threshold, err = c.scalar(threshold, p.e); err != nil {
			return err
		}
		return f(c)
	})
}

// pruneShares does it by percentage.
func (t *Thread) pruneShares(h uint64, p *pruned, err error, percentage float32, info uint64, f func(c *call) error) error {
	return t.older(h, func(c *call) error {
		if err != nil {
			return err
		}
		if _, err := planOf(info, planPrune); err != nil {
			return err
		}
		if err := c.by(p, percentage); err != nil {
			return err
		}
		return f(c)
	})
}

// PruneDense2csrBufferSizeExt says how much memory is wanted.
func (t *Thread) PruneDense2csrBufferSizeExt(h uint64, m, n int32, _ hostmem.Ptr, lda int32, _ hostmem.Ptr, _ uint64, _, _, _ hostmem.Ptr, _ Elem) (uint64, error) {
	return 16, t.sizeOf(h, m, n, lda-max(1, m))
}

// PruneDense2csrNnz makes the offsets, and answers how many entries stay.
func (t *Thread) PruneDense2csrNnz(h uint64, m, n int32, a hostmem.Ptr, lda int32, threshold hostmem.Ptr, descrC uint64, offsets, total, _ hostmem.Ptr, e Elem) error {
	p, err := pruneDense(m, n, a, lda, descrC, e)
	return t.prunes(h, p, err, threshold, func(c *call) error { return c.pruneCount(p, offsets, total) })
}

// PruneDense2csr copies the entries that stay.
func (t *Thread) PruneDense2csr(h uint64, m, n int32, a hostmem.Ptr, lda int32, threshold hostmem.Ptr, descrC uint64, values, offsets, indices, _ hostmem.Ptr, e Elem) error {
	p, err := pruneDense(m, n, a, lda, descrC, e)
	return t.prunes(h, p, err, threshold, func(c *call) error { return c.pruneWrite(p, values, offsets, indices) })
}

// PruneCsr2csrBufferSizeExt says how much memory is wanted.
func (t *Thread) PruneCsr2csrBufferSizeExt(h uint64, m, n, nnz int32, _ uint64, _, _, _, _ hostmem.Ptr, _ uint64, _, _, _ hostmem.Ptr, _ Elem) (uint64, error) {
	return 16, t.sizeOf(h, m, n, nnz)
}

// PruneCsr2csrNnz makes the offsets, and answers how many entries stay.
func (t *Thread) PruneCsr2csrNnz(h uint64, m, n, nnz int32, descrA uint64, values, offsets, indices, threshold hostmem.Ptr, descrC uint64, toOffsets, total, _ hostmem.Ptr, e Elem) error {
	p, err := pruneLines(m, n, nnz, descrA, values, offsets, indices, descrC, e)
	return t.prunes(h, p, err, threshold, func(c *call) error { return c.pruneCount(p, toOffsets, total) })
}

// PruneCsr2csr copies the entries that stay.
func (t *Thread) PruneCsr2csr(h uint64, m, n, nnz int32, descrA uint64, values, offsets, indices, threshold hostmem.Ptr, descrC uint64, toValues, toOffsets, toIndices, _ hostmem.Ptr, e Elem) error {
	p, err := pruneLines(m, n, nnz, descrA, values, offsets, indices, descrC, e)
	return t.prunes(h, p, err, threshold, func(c *call) error { return c.pruneWrite(p, toValues, toOffsets, toIndices) })
}

// PruneDense2csrByPercentageBufferSizeExt says how much memory is wanted.
func (t *Thread) PruneDense2csrByPercentageBufferSizeExt(h uint64, m, n int32, _ hostmem.Ptr, lda int32, _ float32, _ uint64, _, _, _ hostmem.Ptr, _ uint64, _ Elem) (uint64, error) {
	return 16, t.sizeOf(h, m, n, lda-max(1, m))
}

// PruneDense2csrNnzByPercentage makes the offsets, and answers how many entries stay.
func (t *Thread) PruneDense2csrNnzByPercentage(h uint64, m, n int32, a hostmem.Ptr, lda int32, percentage float32, descrC uint64, offsets, total hostmem.Ptr, info uint64, _ hostmem.Ptr, e Elem) error {
	p, err := pruneDense(m, n, a, lda, descrC, e)
	return t.pruneShares(h, p, err, percentage, info, func(c *call) error { return c.pruneCount(p, offsets, total) })
}

// PruneDense2csrByPercentage copies the entries that stay.
func (t *Thread) PruneDense2csrByPercentage(h uint64, m, n int32, a hostmem.Ptr, lda int32, percentage float32, descrC uint64, values, offsets, indices hostmem.Ptr, info uint64, _ hostmem.Ptr, e Elem) error {
	p, err := pruneDense(m, n, a, lda, descrC, e)
	return t.pruneShares(h, p, err, percentage, info, func(c *call) error { return c.pruneWrite(p, values, offsets, indices) })
}

// PruneCsr2csrByPercentageBufferSizeExt says how much memory is wanted.
func (t *Thread) PruneCsr2csrByPercentageBufferSizeExt(h uint64, m, n, nnz int32, _ uint64, _, _, _ hostmem.Ptr, _ float32, _ uint64, _, _, _ hostmem.Ptr, _ uint64, _ Elem) (uint64, error) {
	return 16, t.sizeOf(h, m, n, nnz)
}

// PruneCsr2csrNnzByPercentage makes the offsets, and answers how many entries stay.
func (t *Thread) PruneCsr2csrNnzByPercentage(h uint64, m, n, nnz int32, descrA uint64, values, offsets, indices hostmem.Ptr, percentage float32, descrC uint64, toOffsets, total hostmem.Ptr, info uint64, _ hostmem.Ptr, e Elem) error {
	p, err := pruneLines(m, n, nnz, descrA, values, offsets, indices, descrC, e)
	return t.pruneShares(h, p, err, percentage, info, func(c *call) error { return c.pruneCount(p, toOffsets, total) })
}

// PruneCsr2csrByPercentage copies the entries that stay.
func (t *Thread) PruneCsr2csrByPercentage(h uint64, m, n, nnz int32, descrA uint64, values, offsets, indices hostmem.Ptr, percentage float32, descrC uint64, toValues, toOffsets, toIndices hostmem.Ptr, info uint64, _ hostmem.Ptr, e Elem) error {
	p, err := pruneLines(m, n, nnz, descrA, values, offsets, indices, descrC, e)
	return t.pruneShares(h, p, err, percentage, info, func(c *call) error { return c.pruneWrite(p, toValues, toOffsets, toIndices) })
}

// CnnzCompress counts what is above a tolerance.
func (t *Thread) CnnzCompress(h uint64, m int32, descr uint64, values, offsets, per, total hostmem.Ptr, tol rt.Float2) error {
	return t.compressCount(h, m, descr, values, offsets, per, total, float64(tol.X), C32)
}

// ZnnzCompress counts what is above a tolerance.
func (t *Thread) ZnnzCompress(h uint64, m int32, descr uint64, values, offsets, per, total hostmem.Ptr, tol rt.Double2) error {
	return t.compressCount(h, m, descr, values, offsets, per, total, tol.X, C64)
}

// Ccsr2csrCompress copies what is above a tolerance.
func (t *Thread) Ccsr2csrCompress(h uint64, m, n int32, descr uint64, values, indices, offsets hostmem.Ptr, _ int32, _, toValues, toIndices, toOffsets hostmem.Ptr, tol rt.Float2) error {
	return t.compress(h, m, n, descr, values, indices, offsets, toValues, toIndices, toOffsets, float64(tol.X), C32)
}

// Zcsr2csrCompress copies what is above a tolerance.
func (t *Thread) Zcsr2csrCompress(h uint64, m, n int32, descr uint64, values, indices, offsets hostmem.Ptr, _ int32, _, toValues, toIndices, toOffsets hostmem.Ptr, tol rt.Double2) error {
	return t.compress(h, m, n, descr, values, indices, offsets, toValues, toIndices, toOffsets, tol.X, C64)
}
