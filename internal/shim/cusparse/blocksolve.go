package cusparse

import (
	"kudzu/internal/hostmem"
	"kudzu/internal/shim"
	"kudzu/internal/spec/sparse"
)

// blockSolve is a triangular system of blocks.
type blockSolve struct {
	factors
	op, opX operation
	n       int32
	alpha   hostmem.Ptr
	b, x    dense
}

func (s *blockSolve) check() (*plan, *view, description, error) {
	d, err := described(s.args.descr)
	if err != nil || opBad(s.op, s.opX) || s.n < 0 {
		return nil, nil, d, invalidValue
	}
	p, v, err := s.factors.check()
	return p, v, d, err
}

func (t *Thread) solveSize(h uint64, s *blockSolve) (int32, error) {
	if _, err := find(h); err != nil {
		return 0, notInitialized
	}
	_, _, _, err := s.check()
	return 16, err
}

func (t *Thread) solveAnalysis(h uint64, s *blockSolve) error {
	return t.older(h, func(c *call) error {
		p, v, _, err := s.check()
		if err != nil {
			return err
		}
		return c.analyse(p, v)
	})
}

func (t *Thread) solveBlocks(h uint64, s *blockSolve) error {
	return t.older(h, func(c *call) error {
		p, v, d, err := s.check()
		if err != nil {
			return err
		}
		p.mu.Lock()
		defer p.mu.Unlock()
		if !p.analysed {
			return internalError
		}
		unit := d.Diag == sparse.CUSPARSE_DIAG_TYPE_UNIT
		if !unit {
			if err := c.single(solveKernels, form("zero_diagonal", s.e), v.put(&shim.Params{}).U64(p.pivots)); err != nil {
				return err
			}
		}
		al, err := c.scalar(s.alpha, s.e)
		if err != nil {
			return err
		}
		if v, err = c.opOf(v, s.op); err != nil {
			return err
		}
		b, x := s.b, s.x
		if s.opX != sparse.CUSPARSE_OPERATION_NON_TRANSPOSE {
			b, x = b.transposed(), x.transposed()
		}
		return c.solve(&triangle{v: v, lower: lowerUnder(d.Fill, s.op), unit: unit, alpha: al}, b, x, int64(s.n))
	})
}

// Bsrsv2BufferSize says how much memory is wanted.
func (t *Thread) Bsrsv2BufferSize(h uint64, dir direction, op operation, mb, nnzb int32, descr uint64, values, offsets, indices hostmem.Ptr, block int32, info uint64, e Elem) (int32, error) {
	return t.solveSize(h, &blockSolve{factors: *blockFactors(planBsrsv2, dir, mb, nnzb, descr, values, offsets, indices, block, info, e), op: op})
}

// Bsrsv2Analysis looks for diagonals.
func (t *Thread) Bsrsv2Analysis(h uint64, dir direction, op operation, mb, nnzb int32, descr uint64, values, offsets, indices hostmem.Ptr, block int32, info uint64, _ policy, _ hostmem.Ptr, e Elem) error {
	return t.solveAnalysis(h, &blockSolve{factors: *blockFactors(planBsrsv2, dir, mb, nnzb, descr, values, offsets, indices, block, info, e), op: op})
}

// Bsrsv2Solve solves op(A) × x = alpha × f.
func (t *Thread) Bsrsv2Solve(h uint64, dir direction, op operation, mb, nnzb int32, alpha hostmem.Ptr, descr uint64, values, offsets, indices hostmem.Ptr, block int32, info uint64, f, x hostmem.Ptr, _ policy, _ hostmem.Ptr, e Elem) error {
	return t.solveBlocks(h, &blockSolve{factors: *blockFactors(planBsrsv2, dir, mb, nnzb, descr, values, offsets, indices, block, info, e), op: op, n: 1, alpha: alpha,
		b: dense{base: uint64(f), down: 1, elem: e}, x: dense{base: uint64(x), down: 1, elem: e}})
}

// Bsrsm2BufferSize says how much memory is wanted.
func (t *Thread) Bsrsm2BufferSize(h uint64, dir direction, op, opX operation, mb, n, nnzb int32, descr uint64, values, offsets, indices hostmem.Ptr, block int32, info uint64, e Elem) (int32, error) {
	return t.solveSize(h, &blockSolve{factors: *blockFactors(planBsrsm2, dir, mb, nnzb, descr, values, offsets, indices, block, info, e), op: op, opX: opX, n: n})
}

// Bsrsm2Analysis looks for diagonals.
func (t *Thread) Bsrsm2Analysis(h uint64, dir direction, op, opX operation, mb, n, nnzb int32, descr uint64, values, offsets, indices hostmem.Ptr, block int32, info uint64, _ policy, _ hostmem.Ptr, e Elem) error {
	return t.solveAnalysis(h, &blockSolve{factors: *blockFactors(planBsrsm2, dir, mb, nnzb, descr, values, offsets, indices, block, info, e), op: op, opX: opX, n: n})
}

// Bsrsm2Solve solves op(A) × op(X) = alpha × op(B).
func (t *Thread) Bsrsm2Solve(h uint64, dir direction, op, opX operation, mb, n, nnzb int32, alpha hostmem.Ptr, descr uint64, values, offsets, indices hostmem.Ptr, block int32, info uint64, b hostmem.Ptr, ldb int32, x hostmem.Ptr, ldx int32, _ policy, _ hostmem.Ptr, e Elem) error {
	return t.solveBlocks(h, &blockSolve{factors: *blockFactors(planBsrsm2, dir, mb, nnzb, descr, values, offsets, indices, block, info, e), op: op, opX: opX, n: n, alpha: alpha,
		b: dense{base: uint64(b), down: 1, right: int64(ldb), elem: e}, x: dense{base: uint64(x), down: 1, right: int64(ldx), elem: e}})
}
