package cusparse

import (
	"kudzu/internal/hostmem"
	"kudzu/internal/shim"
	"kudzu/internal/shim/cublas"
	"kudzu/internal/spec/sparse"
)

// triangle is a system with a triangular matrix, by rows of op of it.
type triangle struct {
	v           *view
	lower, unit bool
	alpha       cublas.Scalar
	diagonal    uint64 // counts instead of the matrix's own, if it is not 0
}

// solve sends the solve of n right-hand sides.
func (c *call) solve(s *triangle, b, x dense, n int64) error {
	p := x.put(b.put(s.v.put(&shim.Params{})))
	s.alpha.Put(p)
	p.U64(uint64(n)).U32(flag(s.lower), flag(s.unit)).U64(s.diagonal)
	name := form("trsm", s.v.elem)
	if n == 1 {
		return c.single(solveKernels, name, p)
	}
	return c.launch(solveKernels, name, n, p)
}

// lowerUnder says which triangle op of a matrix has.
func lowerUnder(fill sparse.CusparseFillMode_t, op operation) bool {
	return (fill == sparse.CUSPARSE_FILL_MODE_LOWER) == (op == sparse.CUSPARSE_OPERATION_NON_TRANSPOSE)
}

// spsvArgs are what SpSV's steps take.
type spsvArgs struct {
	op      operation
	alpha   hostmem.Ptr
	a, x, y uint64
	compute dataType
	alg     sparse.CusparseSpSVAlg_t
	plan    uint64
}

// triangular says what is wrong with a triangular matrix.
func triangular(m *sparseMatrix, kinds ...Elem) error {
	if m.rows != m.cols {
		return invalidValue
	}
	switch m.format {
	case sparse.CUSPARSE_FORMAT_CSR, sparse.CUSPARSE_FORMAT_COO, sparse.CUSPARSE_FORMAT_SLICED_ELLPACK:
	default:
		return notSupported
	}
	for _, k := range kinds {
		if k != m.elem {
			return notSupported
		}
	}
	if m.elem > C64 || m.elem == F16 || m.elem == BF16 || !m.usable() {
		return notSupported
	}
	return nil
}

func (g *spsvArgs) check() (m *sparseMatrix, x, y *denseVector, p *plan, err error) {
	m, err1 := got(sparseMatrices, g.a)
	x, err2 := got(vectors, g.x)
	y, err3 := got(vectors, g.y)
	p, err4 := planOf(g.plan, planSpSV)
	if err1 != nil || err2 != nil || err3 != nil || err4 != nil || g.alpha == hostmem.Nil || opBad(g.op) || g.alg != sparse.CUSPARSE_SPSV_ALG_DEFAULT {
		return nil, nil, nil, nil, invalidValue
	}
	e, err := elemOf(g.compute)
	if err != nil {
		return nil, nil, nil, nil, err
	}
	if conjugates(g.op, m.elem) {
		return nil, nil, nil, nil, invalidValue
	}
	return m, x, y, p, triangular(m, x.elem, y.elem, e)
}

// SpSVBufferSize is nothing: the handle has the memory.
func (t *Thread) SpSVBufferSize(h uint64, op operation, alpha hostmem.Ptr, a, x, y uint64, compute dataType, alg sparse.CusparseSpSVAlg_t, pl uint64) (uint64, error) {
	if _, err := find(h); err != nil {
		return 0, err
	}
	g := spsvArgs{op, alpha, a, x, y, compute, alg, pl}
	_, _, _, _, err := g.check()
	return 0, err
}

// SpSVAnalysis remembers that it was made.
func (t *Thread) SpSVAnalysis(h uint64, op operation, alpha hostmem.Ptr, a, x, y uint64, compute dataType, alg sparse.CusparseSpSVAlg_t, pl uint64, _ hostmem.Ptr) error {
	if _, err := find(h); err != nil {
		return err
	}
	g := spsvArgs{op, alpha, a, x, y, compute, alg, pl}
	_, _, _, p, err := g.check()
	if err == nil {
		p.mark()
	}
	return err
}

// mark remembers an analysis; values set before it count no more.
func (p *plan) mark() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.analysed, p.values, p.diagonal = true, 0, 0
}

// ready says whether there was an analysis, and which values and which diagonal were set after it.
func (p *plan) ready() (values, diagonal uint64, ok bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.values, p.diagonal, p.analysed
}

// SpSVSolve solves op(A) × y = alpha × x.
func (t *Thread) SpSVSolve(h uint64, op operation, alpha hostmem.Ptr, a, x, y uint64, compute dataType, alg sparse.CusparseSpSVAlg_t, pl uint64) error {
	return t.work(h, func(c *call) error {
		g := spsvArgs{op, alpha, a, x, y, compute, alg, pl}
		m, vx, vy, p, err := g.check()
		if err != nil {
			return err
		}
		if vx.size != m.rows || vy.size != m.rows {
			return invalidValue
		}
		if done, err := c.triangleElsewhere(m, p, &Work{Name: "spsv", OpA: op, First: alpha, Dense: []*Dense{vx.outside(), vy.outside()}, Compute: compute}); done {
			return err
		}
		return c.triangle(m, op, alpha, p, vx.view(), vy.view(), 1)
	})
}

// triangleElsewhere offers a solve to the providers.
func (c *call) triangleElsewhere(m *sparseMatrix, p *plan, w *Work) (done bool, err error) {
	values, diagonal, ok := p.ready()
	if !ok || diagonal != 0 {
		return false, nil
	}
	return c.elsewhere(func() *Work {
		w.Sparse = m.outside()
		if values != 0 {
			w.Sparse.Values = values
		}
		return w
	})
}

// triangle solves with a matrix of the generic interface.
func (c *call) triangle(m *sparseMatrix, op operation, alpha hostmem.Ptr, p *plan, b, x dense, n int64) error {
	values, diagonal, ok := p.ready()
	if !ok {
		return notInitialized
	}
	if values != 0 {
		m = m.nth(0)
		m.values = values
	}
	v, err := c.under(m, op)
	if err != nil {
		return err
	}
	al, err := c.scalar(alpha, m.elem)
	if err != nil {
		return err
	}
	return c.solve(&triangle{v: v, lower: lowerUnder(m.fill, op), unit: m.diag == sparse.CUSPARSE_DIAG_TYPE_UNIT, alpha: al, diagonal: diagonal}, b, x, n)
}

// update sets the values that later solves use.
func (t *Thread) update(h, pl uint64, k planKind, values hostmem.Ptr, part int32) error {
	if _, err := find(h); err != nil {
		return err
	}
	p, err := planOf(pl, k)
	if err != nil || values == hostmem.Nil || part < 0 || part > 1 {
		return invalidValue
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	if !p.analysed {
		return invalidValue
	}
	if part == 1 { // the diagonal alone, as a vector
		p.diagonal = uint64(values)
		return nil
	}
	p.values, p.diagonal = uint64(values), 0
	return nil
}

// SpSVUpdateMatrix sets the values of the matrix.
func (t *Thread) SpSVUpdateMatrix(h, pl uint64, values hostmem.Ptr, part sparse.CusparseSpSVUpdate_t) error {
	return t.update(h, pl, planSpSV, values, int32(part))
}

// SpSMUpdateMatrix sets the values of the matrix.
func (t *Thread) SpSMUpdateMatrix(h, pl uint64, values hostmem.Ptr, part sparse.CusparseSpSMUpdate_t) error {
	return t.update(h, pl, planSpSM, values, int32(part))
}

// spsmArgs are what SpSM's steps take.
type spsmArgs struct {
	op, opB operation
	alpha   hostmem.Ptr
	a, b, c uint64
	compute dataType
	alg     sparse.CusparseSpSMAlg_t
	plan    uint64
}

func (g *spsmArgs) check() (m *sparseMatrix, b, x *denseMatrix, p *plan, err error) {
	m, err1 := got(sparseMatrices, g.a)
	b, err2 := got(matrices, g.b)
	x, err3 := got(matrices, g.c)
	p, err4 := planOf(g.plan, planSpSM)
	if err1 != nil || err2 != nil || err3 != nil || err4 != nil || g.alpha == hostmem.Nil || opBad(g.op, g.opB) || g.alg != sparse.CUSPARSE_SPSM_ALG_DEFAULT {
		return nil, nil, nil, nil, invalidValue
	}
	e, err := elemOf(g.compute)
	if err != nil {
		return nil, nil, nil, nil, err
	}
	_, rows, cols := b.under(g.opB)
	if rows != m.rows || x.rows != m.rows || x.cols != cols {
		return nil, nil, nil, nil, invalidValue
	}
	if conjugates(g.op, m.elem) || conjugates(g.opB, b.elem) {
		return nil, nil, nil, nil, invalidValue
	}
	return m, b, x, p, triangular(m, b.elem, x.elem, e)
}

// SpSMBufferSize is nothing: the handle has the memory.
func (t *Thread) SpSMBufferSize(h uint64, op, opB operation, alpha hostmem.Ptr, a, b, x uint64, compute dataType, alg sparse.CusparseSpSMAlg_t, pl uint64) (uint64, error) {
	if _, err := find(h); err != nil {
		return 0, err
	}
	g := spsmArgs{op, opB, alpha, a, b, x, compute, alg, pl}
	_, _, _, _, err := g.check()
	return 0, err
}

// SpSMAnalysis remembers that it was made.
func (t *Thread) SpSMAnalysis(h uint64, op, opB operation, alpha hostmem.Ptr, a, b, x uint64, compute dataType, alg sparse.CusparseSpSMAlg_t, pl uint64, _ hostmem.Ptr) error {
	if _, err := find(h); err != nil {
		return err
	}
	g := spsmArgs{op, opB, alpha, a, b, x, compute, alg, pl}
	_, _, _, p, err := g.check()
	if err == nil {
		p.mark()
	}
	return err
}

// SpSMSolve solves op(A) × C = alpha × op(B).
func (t *Thread) SpSMSolve(h uint64, op, opB operation, alpha hostmem.Ptr, a, b, x uint64, compute dataType, alg sparse.CusparseSpSMAlg_t, pl uint64) error {
	return t.work(h, func(c *call) error {
		g := spsmArgs{op, opB, alpha, a, b, x, compute, alg, pl}
		m, mb, mx, p, err := g.check()
		if err != nil {
			return err
		}
		if done, err := c.triangleElsewhere(m, p, &Work{Name: "spsm", OpA: op, OpB: opB, First: alpha, Dense: []*Dense{mb.outside(), mx.outside()}, Compute: compute}); done {
			return err
		}
		db, _, n := mb.under(opB)
		return c.triangle(m, op, alpha, p, db, mx.view(), n)
	})
}
