package cusparse

import (
	"slices"

	"kudzu/internal/hostmem"
	"kudzu/internal/shim"
	"kudzu/internal/shim/cublas"
	"kudzu/internal/spec/sparse"
)

// quad is the types of A, x, y and of the computation.
type quad [4]Elem

// The combinations that products take.
var (
	uniform = []quad{{F32, F32, F32, F32}, {F64, F64, F64, F64}, {C32, C32, C32, C32}, {C64, C64, C64, C64}}
	mixed   = []quad{{S8, S8, S32, S32}, {S8, S8, F32, F32}, {F16, F16, F32, F32}, {BF16, BF16, F32, F32}, {F16, F16, F16, F32}, {BF16, BF16, BF16, F32}}
	across  = []quad{{F32, C32, C32, C32}, {F64, C64, C64, C64}, {F32, F64, F64, F64}}
	spmvOK  = slices.Concat(uniform, mixed, across)
	linesOK = slices.Concat(uniform, mixed, across[:2])
	ellOK   = slices.Concat(uniform[:2], mixed[:1], mixed[2:])

	spmmTypes = map[sparse.CusparseFormat_t][]quad{
		sparse.CUSPARSE_FORMAT_CSR: linesOK, sparse.CUSPARSE_FORMAT_CSC: linesOK, sparse.CUSPARSE_FORMAT_COO: linesOK,
		sparse.CUSPARSE_FORMAT_BSR: slices.Concat(uniform, mixed), sparse.CUSPARSE_FORMAT_BLOCKED_ELL: ellOK,
	}
)

// conjugates says that an operation conjugates numbers that are real: it is refused.
func conjugates(op operation, e Elem) bool {
	return op == sparse.CUSPARSE_OPERATION_CONJUGATE_TRANSPOSE && !isComplex(e)
}

// usable says that there are kernels for a matrix's indices.
func (m *sparseMatrix) usable() bool {
	return m.wide != sparse.CUSPARSE_INDEX_16U && m.wideOff != sparse.CUSPARSE_INDEX_16U && (m.format != sparse.CUSPARSE_FORMAT_SLICED_ELLPACK || m.width > 0)
}

// product is op(A) × X into Y, for one column or many.
type product struct {
	a           *sparseMatrix
	op          operation
	compute     Elem
	alpha, beta cublas.Scalar
}

// spmvArgs are what SpMV and its companions take.
type spmvArgs struct {
	op          operation
	alpha, beta hostmem.Ptr
	a, x, y     uint64
	compute     dataType
	alg         sparse.CusparseSpMVAlg_t
}

// spmvAlgs are the formats that each algorithm is for.
var spmvAlgs = map[sparse.CusparseSpMVAlg_t][]sparse.CusparseFormat_t{
	sparse.CUSPARSE_SPMV_ALG_DEFAULT: {sparse.CUSPARSE_FORMAT_CSR, sparse.CUSPARSE_FORMAT_CSC, sparse.CUSPARSE_FORMAT_COO, sparse.CUSPARSE_FORMAT_BSR, sparse.CUSPARSE_FORMAT_SLICED_ELLPACK},
	sparse.CUSPARSE_SPMV_CSR_ALG1:    {sparse.CUSPARSE_FORMAT_CSR, sparse.CUSPARSE_FORMAT_CSC},
	sparse.CUSPARSE_SPMV_CSR_ALG2:    {sparse.CUSPARSE_FORMAT_CSR, sparse.CUSPARSE_FORMAT_CSC},
	sparse.CUSPARSE_SPMV_COO_ALG1:    {sparse.CUSPARSE_FORMAT_COO},
	sparse.CUSPARSE_SPMV_COO_ALG2:    {sparse.CUSPARSE_FORMAT_COO},
	sparse.CUSPARSE_SPMV_SELL_ALG1:   {sparse.CUSPARSE_FORMAT_SLICED_ELLPACK},
	sparse.CUSPARSE_SPMV_BSR_ALG1:    {sparse.CUSPARSE_FORMAT_BSR},
}

// check finds the operands and says what is wrong with them.
func (g *spmvArgs) check() (m *sparseMatrix, x, y *denseVector, e Elem, err error) {
	m, err1 := got(sparseMatrices, g.a)
	x, err2 := got(vectors, g.x)
	y, err3 := got(vectors, g.y)
	if err1 != nil || err2 != nil || err3 != nil || g.alpha == hostmem.Nil || g.beta == hostmem.Nil || opBad(g.op) {
		return nil, nil, nil, 0, invalidValue
	}
	rows, cols := m.sizeUnder(g.op)
	if x.size != cols || y.size != rows {
		return nil, nil, nil, 0, invalidValue
	}
	if e, err = elemOf(g.compute); err != nil {
		return nil, nil, nil, 0, err
	}
	fs, known := spmvAlgs[g.alg]
	if !known {
		return nil, nil, nil, 0, invalidValue
	}
	switch {
	case m.marked || !m.usable() || g.alg == sparse.CUSPARSE_SPMV_ALG_DEFAULT && !slices.Contains(fs, m.format) || !slices.Contains(spmvOK, quad{m.elem, x.elem, y.elem, e}):
		err = notSupported
	case !slices.Contains(fs, m.format) || conjugates(g.op, m.elem):
		err = invalidValue
	case m.format == sparse.CUSPARSE_FORMAT_BSR && g.op != sparse.CUSPARSE_OPERATION_NON_TRANSPOSE:
		err = notSupported
	}
	return m, x, y, e, err
}

// SpMV is y = alpha × op(A) × x + beta × y.
func (t *Thread) SpMV(h uint64, op operation, alpha hostmem.Ptr, a, x uint64, beta hostmem.Ptr, y uint64, compute dataType, alg sparse.CusparseSpMVAlg_t, _ hostmem.Ptr) error {
	return t.work(h, func(c *call) error {
		g := spmvArgs{op, alpha, beta, a, x, y, compute, alg}
		m, vx, vy, e, err := g.check()
		if err != nil {
			return err
		}
		p := product{a: m, op: op, compute: e}
		if p.alpha, err = c.scalar(alpha, e); err != nil {
			return err
		}
		if p.beta, err = c.scalar(beta, e); err != nil {
			return err
		}
		if done, err := c.elsewhere(func() *Work {
			return &Work{Name: "spmv", OpA: op, First: alpha, Second: beta, Sparse: m.outside(), Dense: []*Dense{vx.outside(), vy.outside()}, Compute: compute}
		}); done {
			return err
		}
		run := func() error { return c.vector(&p, vx.view(), vy.view()) }
		rows, cols := m.sizeUnder(op)
		if s := p.sums("SpMV", vx.view(), vy.view(), rows, cols, 1); s != nil {
			return s.Do(c.d, c.stream, run)
		}
		return run()
	})
}

// SpMVBufferSize is nothing: the handle has the memory.
func (t *Thread) SpMVBufferSize(h uint64, op operation, alpha hostmem.Ptr, a, x uint64, beta hostmem.Ptr, y uint64, compute dataType, alg sparse.CusparseSpMVAlg_t) (uint64, error) {
	if _, err := find(h); err != nil {
		return 0, err
	}
	g := spmvArgs{op, alpha, beta, a, x, y, compute, alg}
	_, _, _, _, err := g.check()
	return 0, err
}

// SpMVPreprocess has nothing to do: the mean length of lines, which the description says, decides how they are dealt out.
func (t *Thread) SpMVPreprocess(h uint64, op operation, alpha hostmem.Ptr, a, x uint64, beta hostmem.Ptr, y uint64, compute dataType, alg sparse.CusparseSpMVAlg_t, _ hostmem.Ptr) error {
	_, err := t.SpMVBufferSize(h, op, alpha, a, x, beta, y, compute, alg)
	return err
}

// vector sends a product with a vector.
func (c *call) vector(p *product, x, y dense) error {
	v, err := c.under(p.a, p.op)
	if err != nil {
		return err
	}
	if quick(p, v, x, y) {
		return c.quickVector(p, v, x, y)
	}
	q := y.put(x.put(v.put(&shim.Params{})))
	p.alpha.Put(q)
	p.beta.Put(q)
	return c.launch(productKernels, form("spmv", p.compute, v.elem, x.elem, y.elem), v.lines, q)
}

// matrix sends a product with a matrix of n columns.
func (c *call) matrix(p *product, b, y dense, n int64) error {
	v, err := c.under(p.a, p.op)
	if err != nil {
		return err
	}
	return c.times(p, v, b, y, n)
}

// times sends it for a matrix by rows.
func (c *call) times(p *product, v *view, b, y dense, n int64) error {
	if v.lines == 0 || n == 0 {
		return nil
	}
	if quick(p, v, b, y) {
		return c.quickMatrix(p, v, b, y, n)
	}
	q := y.put(b.put(v.put(&shim.Params{})))
	p.alpha.Put(q)
	p.beta.Put(q)
	q.U64(uint64(n))
	const lanes, rows, most = 32, 8, 1 << 15
	grid := [3]uint32{uint32((n + lanes - 1) / lanes), uint32(min((v.lines+rows-1)/rows, most)), 1}
	return productKernels.Launch(c.d, c.stream, form("spmm", p.compute, v.elem, b.elem, y.elem), grid, [3]uint32{lanes, rows, 1}, q)
}

// spmmArgs are what SpMM and its companions take.
type spmmArgs struct {
	op, opB     operation
	alpha, beta hostmem.Ptr
	a, b, c     uint64
	compute     dataType
	alg         sparse.CusparseSpMMAlg_t
}

var (
	csrLike  = []sparse.CusparseFormat_t{sparse.CUSPARSE_FORMAT_CSR, sparse.CUSPARSE_FORMAT_CSC}
	cooOnly  = []sparse.CusparseFormat_t{sparse.CUSPARSE_FORMAT_COO}
	spmmAlgs = map[sparse.CusparseSpMMAlg_t][]sparse.CusparseFormat_t{
		sparse.CUSPARSE_SPMM_ALG_DEFAULT:      {sparse.CUSPARSE_FORMAT_CSR, sparse.CUSPARSE_FORMAT_CSC, sparse.CUSPARSE_FORMAT_COO, sparse.CUSPARSE_FORMAT_BSR, sparse.CUSPARSE_FORMAT_BLOCKED_ELL},
		sparse.CUSPARSE_SPMM_COO_ALG1:         cooOnly,
		sparse.CUSPARSE_SPMM_COO_ALG2:         cooOnly,
		sparse.CUSPARSE_SPMM_COO_ALG3:         cooOnly,
		sparse.CUSPARSE_SPMM_COO_ALG4:         cooOnly,
		sparse.CUSPARSE_SPMM_CSR_ALG1:         csrLike,
		sparse.CUSPARSE_SPMM_CSR_ALG2:         csrLike,
		sparse.CUSPARSE_SPMM_CSR_ALG3:         csrLike,
		sparse.CUSPARSE_SPMM_BLOCKED_ELL_ALG1: {sparse.CUSPARSE_FORMAT_BLOCKED_ELL},
		sparse.CUSPARSE_SPMM_BSR_ALG1:         {sparse.CUSPARSE_FORMAT_BSR},
	}
)

func (g *spmmArgs) check() (m *sparseMatrix, b, y *denseMatrix, e Elem, err error) {
	m, err1 := got(sparseMatrices, g.a)
	b, err2 := got(matrices, g.b)
	y, err3 := got(matrices, g.c)
	if err1 != nil || err2 != nil || err3 != nil || g.alpha == hostmem.Nil || g.beta == hostmem.Nil || opBad(g.op, g.opB) {
		return nil, nil, nil, 0, invalidValue
	}
	rows, cols := m.sizeUnder(g.op)
	_, rb, cb := b.under(g.opB)
	if rb != cols || y.rows != rows || y.cols != cb {
		return nil, nil, nil, 0, invalidValue
	}
	if e, err = elemOf(g.compute); err != nil {
		return nil, nil, nil, 0, err
	}
	fs, known := spmmAlgs[g.alg]
	if !known {
		return nil, nil, nil, 0, invalidValue
	}
	types, ok := spmmTypes[m.format]
	blocks := m.format == sparse.CUSPARSE_FORMAT_BSR || m.format == sparse.CUSPARSE_FORMAT_BLOCKED_ELL
	switch {
	case m.marked || !ok || !m.usable():
		err = notSupported
	case !slices.Contains(fs, m.format) || g.alg == sparse.CUSPARSE_SPMM_CSR_ALG3 && m.byColumns() || conjugates(g.op, m.elem) || conjugates(g.opB, b.elem):
		err = invalidValue
	case !slices.Contains(types, quad{m.elem, b.elem, y.elem, e}) || blocks && g.op != sparse.CUSPARSE_OPERATION_NON_TRANSPOSE:
		err = notSupported
	case m.format == sparse.CUSPARSE_FORMAT_BLOCKED_ELL && (g.opB != sparse.CUSPARSE_OPERATION_NON_TRANSPOSE || m.wide == sparse.CUSPARSE_INDEX_64I):
		err = notSupported
	}
	return m, b, y, e, err
}

// SpMM is C = alpha × op(A) × op(B) + beta × C, for each matrix of a batch.
func (t *Thread) SpMM(h uint64, op, opB operation, alpha hostmem.Ptr, a, b uint64, beta hostmem.Ptr, y uint64, compute dataType, alg sparse.CusparseSpMMAlg_t, _ hostmem.Ptr) error {
	return t.work(h, func(c *call) error {
		g := spmmArgs{op, opB, alpha, beta, a, b, y, compute, alg}
		m, mb, mc, e, err := g.check()
		if err != nil {
			return err
		}
		p := product{op: op, compute: e}
		if p.alpha, err = c.scalar(alpha, e); err != nil {
			return err
		}
		if p.beta, err = c.scalar(beta, e); err != nil {
			return err
		}
		for i := range max(mc.batch, 1) {
			p.a = m.nth(i)
			done, err := c.elsewhere(func() *Work {
				return &Work{Name: "spmm", OpA: op, OpB: opB, First: alpha, Second: beta, Sparse: p.a.outside(), Dense: []*Dense{mb.nth(i).outside(), mc.nth(i).outside()}, Compute: compute}
			})
			if err != nil {
				return err
			}
			if done {
				continue
			}
			db, _, n := mb.nth(i).under(opB)
			run := func() error { return c.matrix(&p, db, mc.nth(i).view(), n) }
			rows, cols := m.sizeUnder(op)
			if s := p.sums("SpMM", db, mc.nth(i).view(), rows, cols, n); s != nil {
				err = s.Do(c.d, c.stream, run)
			} else {
				err = run()
			}
			if err != nil {
				return err
			}
		}
		return nil
	})
}

// SpMMBufferSize is nothing: the handle has the memory.
func (t *Thread) SpMMBufferSize(h uint64, op, opB operation, alpha hostmem.Ptr, a, b uint64, beta hostmem.Ptr, y uint64, compute dataType, alg sparse.CusparseSpMMAlg_t) (uint64, error) {
	if _, err := find(h); err != nil {
		return 0, err
	}
	g := spmmArgs{op, opB, alpha, beta, a, b, y, compute, alg}
	_, _, _, _, err := g.check()
	return 0, err
}

// SpMMPreprocess has nothing to do.
func (t *Thread) SpMMPreprocess(h uint64, op, opB operation, alpha hostmem.Ptr, a, b uint64, beta hostmem.Ptr, y uint64, compute dataType, alg sparse.CusparseSpMMAlg_t, _ hostmem.Ptr) error {
	_, err := t.SpMMBufferSize(h, op, opB, alpha, a, b, beta, y, compute, alg)
	return err
}
