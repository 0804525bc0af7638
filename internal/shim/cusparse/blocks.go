package cusparse

import (
	"kudzu/internal/hostmem"
	"kudzu/internal/shim"
	"kudzu/internal/spec/sparse"
)

// linesOf is a matrix of the older functions, by rows. They have indices of 32 bits, and a description for their base.
func linesOf(m, n, nnz int32, d description, values, offsets, indices hostmem.Ptr, e Elem) *view {
	return &view{lines: int64(m), others: int64(n), offsets: uint64(offsets), indices: uint64(indices), values: uint64(values), base: uint32(d.Base), elem: e,
		bm: 1, bn: 1, most: int64(nnz)}
}

// blocksOf is one of blocks.
func blocksOf(dir direction, mb, nb, nnzb int32, d description, values, offsets, indices hostmem.Ptr, bm, bn int32, e Elem) *view {
	v := linesOf(mb*bm, nb*bn, nnzb, d, values, offsets, indices, e)
	v.format, v.bm, v.bn, v.byColumn = formatBlocks, uint32(bm), uint32(bn), flag(dir == sparse.CUSPARSE_DIRECTION_COLUMN)
	v.most *= int64(bm) * int64(bn)
	return v
}

// blockArgs are the arguments that functions of square blocks share.
type blockArgs struct {
	dir                      direction
	mb, nb, nnzb, block      int32
	descr                    uint64
	values, offsets, indices hostmem.Ptr
}

// check finds the description and says what is wrong.
func (b *blockArgs) check() (description, error) {
	d, err := described(b.descr)
	if err != nil || b.mb < 0 || b.nb < 0 || b.nnzb < 0 || b.block < 1 || b.dir < 0 || b.dir > sparse.CUSPARSE_DIRECTION_COLUMN {
		return d, invalidValue
	}
	if d.Type != sparse.CUSPARSE_MATRIX_TYPE_GENERAL {
		return d, wrongMatrixType
	}
	return d, nil
}

func (b *blockArgs) view(d description, e Elem) *view {
	return blocksOf(b.dir, b.mb, b.nb, b.nnzb, d, b.values, b.offsets, b.indices, b.block, b.block, e)
}

// opOf is op of a view.
func (c *call) opOf(v *view, op operation) (*view, error) {
	if op == sparse.CUSPARSE_OPERATION_NON_TRANSPOSE {
		return v, nil
	}
	v, err := c.transpose(v)
	if err == nil {
		v.conjugate = flag(op == sparse.CUSPARSE_OPERATION_CONJUGATE_TRANSPOSE)
	}
	return v, err
}

// Bsrmv is y = alpha × op(A) × x + beta × y. Only A itself is taken, as by the vendor.
func (t *Thread) Bsrmv(h uint64, dir direction, op operation, mb, nb, nnzb int32, alpha hostmem.Ptr, descr uint64, values, offsets, indices hostmem.Ptr, block int32, x, beta, y hostmem.Ptr, e Elem) error {
	return t.older(h, func(c *call) error {
		b := blockArgs{dir, mb, nb, nnzb, block, descr, values, offsets, indices}
		return c.blockVector(&b, op, alpha, x, beta, y, e, hostmem.Nil, func(p *shim.Params, v *view) error {
			return c.launch(productKernels, form("spmv", e), v.lines, p)
		})
	})
}

// Bsrxmv does it for the rows of blocks of a list; the others of y stay.
func (t *Thread) Bsrxmv(h uint64, dir direction, op operation, n, mb, nb, nnzb int32, alpha hostmem.Ptr, descr uint64, values, mask, offsets, ends, indices hostmem.Ptr, block int32, x, beta, y hostmem.Ptr, e Elem) error {
	return t.older(h, func(c *call) error {
		if n < 0 || block == 1 {
			return invalidValue
		}
		b := blockArgs{dir, mb, nb, nnzb, block, descr, values, offsets, indices}
		return c.blockVector(&b, op, alpha, x, beta, y, e, ends, func(p *shim.Params, _ *view) error {
			return c.launch(productKernels, form("masked", e), int64(n)*int64(block), p.U64(uint64(mask), uint64(n)))
		})
	})
}

// blockVector lays out a product of blocks with a vector.
func (c *call) blockVector(b *blockArgs, op operation, alpha, x, beta, y hostmem.Ptr, e Elem, ends hostmem.Ptr, send func(p *shim.Params, v *view) error) error {
	d, err := b.check()
	if err != nil {
		return err
	}
	if op != sparse.CUSPARSE_OPERATION_NON_TRANSPOSE {
		return invalidValue
	}
	v := b.view(d, e)
	v.ends = uint64(ends)
	p := v.put(&shim.Params{})
	dense{base: uint64(x), down: 1, elem: e}.put(p)
	dense{base: uint64(y), down: 1, elem: e}.put(p)
	for _, s := range []hostmem.Ptr{alpha, beta} {
		k, err := c.scalar(s, e)
		if err != nil {
			return err
		}
		k.Put(p)
	}
	return send(p, v)
}

// Bsrmm is C = alpha × A × op(B) + beta × C.
func (t *Thread) Bsrmm(h uint64, dir direction, op, opB operation, mb, n, kb, nnzb int32, alpha hostmem.Ptr, descr uint64, values, offsets, indices hostmem.Ptr, block int32, b hostmem.Ptr, ldb int32, beta, y hostmem.Ptr, ldc int32, e Elem) error {
	return t.older(h, func(c *call) error {
		g := blockArgs{dir, mb, kb, nnzb, block, descr, values, offsets, indices}
		d, err := g.check()
		if err != nil || n < 0 || opBad(op, opB) {
			return invalidValue
		}
		if op != sparse.CUSPARSE_OPERATION_NON_TRANSPOSE || opB == sparse.CUSPARSE_OPERATION_CONJUGATE_TRANSPOSE {
			return invalidValue
		}
		least := kb * block
		if opB != sparse.CUSPARSE_OPERATION_NON_TRANSPOSE {
			least = n
		}
		if ldb < max(1, least) || ldc < max(1, mb*block) {
			return invalidValue
		}
		p := product{compute: e}
		if p.alpha, err = c.scalar(alpha, e); err != nil {
			return err
		}
		if p.beta, err = c.scalar(beta, e); err != nil {
			return err
		}
		right := dense{base: uint64(b), down: 1, right: int64(ldb), elem: e}
		if opB != sparse.CUSPARSE_OPERATION_NON_TRANSPOSE {
			right = right.transposed()
		}
		return c.times(&p, g.view(d, e), right, dense{base: uint64(y), down: 1, right: int64(ldc), elem: e}, int64(n))
	})
}

// Gemvi is y = alpha × op(A) × x + beta × y for a dense A and a sparse x.
func (t *Thread) Gemvi(h uint64, op operation, m, n int32, alpha, a hostmem.Ptr, lda, nnz int32, values, indices, beta, y hostmem.Ptr, base indexBase, _ hostmem.Ptr, e Elem) error {
	return t.older(h, func(c *call) error {
		if m < 0 || n < 0 || nnz < 0 || lda < max(1, m) || opBad(op) || baseBad(base) || op == sparse.CUSPARSE_OPERATION_CONJUGATE_TRANSPOSE {
			return invalidValue
		}
		d := dense{base: uint64(a), down: 1, right: int64(lda), elem: e}
		lines := int64(m)
		if op != sparse.CUSPARSE_OPERATION_NON_TRANSPOSE {
			d, lines = d.transposed(), int64(n)
		}
		x := sparseVector{nnz: int64(nnz), indices: uint64(indices), values: uint64(values), wide: sparse.CUSPARSE_INDEX_32I, base: base, elem: e}
		p := x.put(d.put(&shim.Params{})).U64(uint64(y), uint64(lines))
		for _, s := range []hostmem.Ptr{alpha, beta} {
			k, err := c.scalar(s, e)
			if err != nil {
				return err
			}
			k.Put(p)
		}
		return c.launch(productKernels, form("gemvi", e), lines, p)
	})
}

// GemviBufferSize is nothing: no memory is needed.
func (t *Thread) GemviBufferSize(h uint64, _ operation, m, n, nnz int32, _ Elem) (int32, error) {
	return 0, t.sizeOf(h, m, n, nnz)
}

// sizeOf checks the handle and the numbers of a function that says how much memory it wants.
func (t *Thread) sizeOf(h uint64, ns ...int32) error {
	if _, err := find(h); err != nil {
		return notInitialized
	}
	for _, n := range ns {
		if n < 0 {
			return invalidValue
		}
	}
	return nil
}
