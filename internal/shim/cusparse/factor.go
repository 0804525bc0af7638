package cusparse

import (
	"kudzu/internal/driver"
	"kudzu/internal/hostmem"
	"kudzu/internal/shim"
	"kudzu/internal/spec/sparse"
)

// Solves and incomplete factors of the older functions. All have an analysis, which finds lines without a diagonal, and keep what they
// found in their plan: it can be asked for after either step.

// analyse finds lines without a diagonal.
func (c *call) analyse(p *plan, v *view) (err error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.pivots == 0 {
		if p.pivots, err = p.take(c.d, 16); err != nil {
			return err
		}
	}
	p.analysed = true
	return c.single(solveKernels, "missing", v.put(&shim.Params{}).U64(p.pivots))
}

// pivot answers the first line whose diagonal is missing or zero.
func (t *Thread) pivot(h, pl uint64, k planKind, to hostmem.Ptr) error {
	return t.older(h, func(c *call) error {
		p, err := planOf(pl, k)
		if err != nil || to == hostmem.Nil {
			return invalidValue
		}
		p.mu.Lock()
		defer p.mu.Unlock()
		found := [2]int64{-1, -1}
		if p.pivots != 0 {
			if err := c.d.MemcpyDtoHAsync(hostmem.Of(&found), driver.DevPtr(p.pivots), 16, c.stream); err != nil {
				return err
			}
			if err := c.d.StreamSynchronize(c.stream); err != nil {
				return err
			}
		}
		at := found[0]
		if at < 0 || found[1] >= 0 && found[1] < at {
			at = found[1]
		}
		if c.mode == sparse.CUSPARSE_POINTER_MODE_HOST {
			hostmem.Store(to, int32(at))
		} else if err := c.d.MemsetD32(driver.DevPtr(to), uint32(int32(at)), 1); err != nil {
			return err
		}
		if at >= 0 {
			return zeroPivot
		}
		return nil
	})
}

// Xbsrsv2ZeroPivot answers the first zero pivot.
func (t *Thread) Xbsrsv2ZeroPivot(h, info uint64, to hostmem.Ptr) error {
	return t.pivot(h, info, planBsrsv2, to)
}

// Xbsrsm2ZeroPivot answers the first zero pivot.
func (t *Thread) Xbsrsm2ZeroPivot(h, info uint64, to hostmem.Ptr) error {
	return t.pivot(h, info, planBsrsm2, to)
}

// Xcsrilu02ZeroPivot answers the first zero pivot.
func (t *Thread) Xcsrilu02ZeroPivot(h, info uint64, to hostmem.Ptr) error {
	return t.pivot(h, info, planCsrilu02, to)
}

// Xbsrilu02ZeroPivot answers the first zero pivot.
func (t *Thread) Xbsrilu02ZeroPivot(h, info uint64, to hostmem.Ptr) error {
	return t.pivot(h, info, planBsrilu02, to)
}

// Xcsric02ZeroPivot answers the first zero pivot.
func (t *Thread) Xcsric02ZeroPivot(h, info uint64, to hostmem.Ptr) error {
	return t.pivot(h, info, planCsric02, to)
}

// Xbsric02ZeroPivot answers the first zero pivot.
func (t *Thread) Xbsric02ZeroPivot(h, info uint64, to hostmem.Ptr) error {
	return t.pivot(h, info, planBsric02, to)
}

// factors is an incomplete factorisation of a matrix: A ≈ L × U, or L × its conjugate transpose.
type factors struct {
	kind planKind
	info uint64
	args blockArgs
	e    Elem
}

func (f *factors) check() (*plan, *view, error) {
	d, err := f.args.check()
	if err != nil {
		return nil, nil, err
	}
	p, err := planOf(f.info, f.kind)
	if err != nil {
		return nil, nil, err
	}
	v := f.args.view(d, f.e)
	if f.kind == planCsric02 || f.kind == planCsrilu02 {
		v = linesOf(f.args.mb, f.args.mb, f.args.nnzb, d, f.args.values, f.args.offsets, f.args.indices, f.e)
	}
	return p, v, nil
}

// factorSize says how much memory is wanted: a little, because the handle has its own.
func (t *Thread) factorSize(h uint64, f *factors) (int32, error) {
	if _, err := find(h); err != nil {
		return 0, notInitialized
	}
	_, _, err := f.check()
	return 16, err
}

func (t *Thread) factorAnalysis(h uint64, f *factors) error {
	return t.older(h, func(c *call) error {
		p, v, err := f.check()
		if err != nil {
			return err
		}
		return c.analyse(p, v)
	})
}

func (t *Thread) factor(h uint64, f *factors) error {
	return t.older(h, func(c *call) error {
		p, v, err := f.check()
		if err != nil {
			return err
		}
		p.mu.Lock()
		defer p.mu.Unlock()
		if !p.analysed {
			return internalError // as the vendor's
		}
		where, err := c.scratch(v.lines * 16)
		if err != nil {
			return err
		}
		q := v.put(&shim.Params{}).U64(where, p.pivots)
		if f.kind == planCsric02 || f.kind == planBsric02 {
			return c.single(solveKernels, form("ic", f.e), q)
		}
		p.boost.value.Put(q)
		p.boost.tol.Put(q)
		return c.single(solveKernels, form("ilu", f.e), q.U32(flag(p.boost.on)))
	})
}

// numericBoost says which pivots are replaced.
func (t *Thread) numericBoost(h, info uint64, k planKind, on int32, tol, value hostmem.Ptr, e Elem) error {
	return t.older(h, func(c *call) error {
		p, err := planOf(info, k)
		if err != nil || on != 0 && (tol == hostmem.Nil || value == hostmem.Nil) {
			return invalidValue
		}
		b := boost{on: on != 0}
		if b.on {
			if b.tol, err = c.scalar(tol, F64); err != nil {
				return err
			}
			if b.value, err = c.scalar(value, e); err != nil {
				return err
			}
		}
		p.mu.Lock()
		defer p.mu.Unlock()
		p.boost = b
		return nil
	})
}

// Csrilu02NumericBoost says which pivots are replaced.
func (t *Thread) Csrilu02NumericBoost(h, info uint64, on int32, tol, value hostmem.Ptr, e Elem) error {
	return t.numericBoost(h, info, planCsrilu02, on, tol, value, e)
}

// Bsrilu02NumericBoost says which pivots are replaced.
func (t *Thread) Bsrilu02NumericBoost(h, info uint64, on int32, tol, value hostmem.Ptr, e Elem) error {
	return t.numericBoost(h, info, planBsrilu02, on, tol, value, e)
}

func scalarFactors(k planKind, m, nnz int32, descr uint64, values, offsets, indices hostmem.Ptr, info uint64, e Elem) *factors {
	return &factors{kind: k, info: info, e: e, args: blockArgs{0, m, m, nnz, 1, descr, values, offsets, indices}}
}

func blockFactors(k planKind, dir direction, mb, nnzb int32, descr uint64, values, offsets, indices hostmem.Ptr, block int32, info uint64, e Elem) *factors {
	return &factors{kind: k, info: info, e: e, args: blockArgs{dir, mb, mb, nnzb, block, descr, values, offsets, indices}}
}

// Csrilu02BufferSize says how much memory is wanted.
func (t *Thread) Csrilu02BufferSize(h uint64, m, nnz int32, descr uint64, values, offsets, indices hostmem.Ptr, info uint64, e Elem) (int32, error) {
	return t.factorSize(h, scalarFactors(planCsrilu02, m, nnz, descr, values, offsets, indices, info, e))
}

// Csrilu02Analysis looks for diagonals.
func (t *Thread) Csrilu02Analysis(h uint64, m, nnz int32, descr uint64, values, offsets, indices hostmem.Ptr, info uint64, _ policy, _ hostmem.Ptr, e Elem) error {
	return t.factorAnalysis(h, scalarFactors(planCsrilu02, m, nnz, descr, values, offsets, indices, info, e))
}

// Csrilu02 factors in place.
func (t *Thread) Csrilu02(h uint64, m, nnz int32, descr uint64, values, offsets, indices hostmem.Ptr, info uint64, _ policy, _ hostmem.Ptr, e Elem) error {
	return t.factor(h, scalarFactors(planCsrilu02, m, nnz, descr, values, offsets, indices, info, e))
}

// Csric02BufferSize says how much memory is wanted.
func (t *Thread) Csric02BufferSize(h uint64, m, nnz int32, descr uint64, values, offsets, indices hostmem.Ptr, info uint64, e Elem) (int32, error) {
	return t.factorSize(h, scalarFactors(planCsric02, m, nnz, descr, values, offsets, indices, info, e))
}

// Csric02Analysis looks for diagonals.
func (t *Thread) Csric02Analysis(h uint64, m, nnz int32, descr uint64, values, offsets, indices hostmem.Ptr, info uint64, _ policy, _ hostmem.Ptr, e Elem) error {
	return t.factorAnalysis(h, scalarFactors(planCsric02, m, nnz, descr, values, offsets, indices, info, e))
}

// Csric02 factors in place.
func (t *Thread) Csric02(h uint64, m, nnz int32, descr uint64, values, offsets, indices hostmem.Ptr, info uint64, _ policy, _ hostmem.Ptr, e Elem) error {
	return t.factor(h, scalarFactors(planCsric02, m, nnz, descr, values, offsets, indices, info, e))
}

// Bsrilu02BufferSize says how much memory is wanted.
func (t *Thread) Bsrilu02BufferSize(h uint64, dir direction, mb, nnzb int32, descr uint64, values, offsets, indices hostmem.Ptr, block int32, info uint64, e Elem) (int32, error) {
	return t.factorSize(h, blockFactors(planBsrilu02, dir, mb, nnzb, descr, values, offsets, indices, block, info, e))
}

// Bsrilu02Analysis looks for diagonals.
func (t *Thread) Bsrilu02Analysis(h uint64, dir direction, mb, nnzb int32, descr uint64, values, offsets, indices hostmem.Ptr, block int32, info uint64, _ policy, _ hostmem.Ptr, e Elem) error {
	return t.factorAnalysis(h, blockFactors(planBsrilu02, dir, mb, nnzb, descr, values, offsets, indices, block, info, e))
}

// Bsrilu02 factors in place.
func (t *Thread) Bsrilu02(h uint64, dir direction, mb, nnzb int32, descr uint64, values, offsets, indices hostmem.Ptr, block int32, info uint64, _ policy, _ hostmem.Ptr, e Elem) error {
	return t.factor(h, blockFactors(planBsrilu02, dir, mb, nnzb, descr, values, offsets, indices, block, info, e))
}

// Bsric02BufferSize says how much memory is wanted.
func (t *Thread) Bsric02BufferSize(h uint64, dir direction, mb, nnzb int32, descr uint64, values, offsets, indices hostmem.Ptr, block int32, info uint64, e Elem) (int32, error) {
	return t.factorSize(h, blockFactors(planBsric02, dir, mb, nnzb, descr, values, offsets, indices, block, info, e))
}

// Bsric02Analysis looks for diagonals.
func (t *Thread) Bsric02Analysis(h uint64, dir direction, mb, nnzb int32, descr uint64, values, offsets, indices hostmem.Ptr, block int32, info uint64, _ policy, _ hostmem.Ptr, e Elem) error {
	return t.factorAnalysis(h, blockFactors(planBsric02, dir, mb, nnzb, descr, values, offsets, indices, block, info, e))
}

// Bsric02 factors in place.
func (t *Thread) Bsric02(h uint64, dir direction, mb, nnzb int32, descr uint64, values, offsets, indices hostmem.Ptr, block int32, info uint64, _ policy, _ hostmem.Ptr, e Elem) error {
	return t.factor(h, blockFactors(planBsric02, dir, mb, nnzb, descr, values, offsets, indices, block, info, e))
}
