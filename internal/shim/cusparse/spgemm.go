package cusparse

import (
	"slices"

	"kudzu/internal/hostmem"
	"kudzu/internal/shim"
	"kudzu/internal/spec/sparse"
)

// gemmState is a product of sparse matrices between its steps: its entries, in memory of the plan.
type gemmState struct {
	lines, nnz, products     int64
	offsets, columns, values uint64
	known                    bool // offsets, nnz
	sized                    bool // workEstimation was called with memory
}

// gemmArgs are what SpGEMM's steps take.
type gemmArgs struct {
	opA, opB    operation
	a, b, c     uint64
	alg         sparse.CusparseSpGEMMAlg_t
	plan        uint64
	compute     dataType
	alpha, beta hostmem.Ptr
	symbolic    bool // no compute type and no scalars
	reuse       bool
}

// gemm is what they are.
type gemm struct {
	a, b, c *sparseMatrix
	p       *plan
	e       Elem
}

var gemmOK = slices.Concat(uniform, []quad{{F16, F16, F16, F32}, {BF16, BF16, BF16, F32}})

func (g *gemmArgs) check() (*gemm, error) {
	a, err1 := got(sparseMatrices, g.a)
	b, err2 := got(sparseMatrices, g.b)
	c, err3 := got(sparseMatrices, g.c)
	p, err4 := planOf(g.plan, planSpGEMM)
	if err1 != nil || err2 != nil || err3 != nil || err4 != nil || opBad(g.opA, g.opB) || g.alg < 0 || g.alg > sparse.CUSPARSE_SPGEMM_ALG3 {
		return nil, invalidValue
	}
	if !g.symbolic && (g.alpha == hostmem.Nil || g.beta == hostmem.Nil) || a.cols != b.rows || c.rows != a.rows || c.cols != b.cols {
		return nil, invalidValue
	}
	e, types := computeOf(a.elem), gemmOK
	if !g.symbolic {
		var err error
		if e, err = elemOf(g.compute); err != nil {
			return nil, err
		}
		if !g.reuse {
			types = uniform
		}
	}
	if a.marked || b.marked || c.marked {
		return nil, notSupported
	}
	csr := sparse.CUSPARSE_FORMAT_CSR
	if a.format != csr || b.format != csr || c.format != csr || g.opA != sparse.CUSPARSE_OPERATION_NON_TRANSPOSE || g.opB != g.opA || !slices.Contains(types, quad{a.elem, b.elem, c.elem, e}) {
		return nil, notSupported
	}
	return &gemm{a, b, c, p, e}, nil
}

// sizes answers how much memory a step wants: a little, because the plan has its own.
func sizes(to, buffer hostmem.Ptr) (ask bool, err error) {
	if to == hostmem.Nil {
		return false, invalidValue
	}
	if buffer == hostmem.Nil {
		hostmem.Store(to, uint64(16))
		return true, nil
	}
	return false, nil
}

// count finds the entries of the product. Preconditions: the plan is locked.
func (c *call) count(g *gemm) error {
	s := &g.p.gemm
	g.p.drop(c.d)
	*s = gemmState{lines: g.a.rows, sized: true}
	va, vb := g.a.stored(), g.b.stored()
	work, err := c.gemmWork(vb.others, 8)
	if err != nil {
		return err
	}
	m, err := c.scratches(s.lines*8, s.lines*8, (s.lines+1)*8)
	if err != nil {
		return err
	}
	if s.offsets, err = g.p.take(c.d, (s.lines+1)*8); err != nil {
		return err
	}
	p := vb.put(va.put(&shim.Params{})).U64(work.marks, work.sums, uint64(work.workers), m[0], m[1])
	if err := c.workers("gemm_count", work.workers, p); err != nil {
		return err
	}
	total, err := c.scan(m[1], s.lines, m[2], 1, 0)
	if err != nil {
		return err
	}
	if s.products, err = c.read(total); err != nil {
		return err
	}
	if total, err = c.scan(m[0], s.lines, s.offsets, 1, 0); err != nil {
		return err
	}
	if s.nnz, err = c.read(total); err != nil {
		return err
	}
	if s.columns, err = g.p.take(c.d, s.nnz*8); err != nil {
		return err
	}
	if s.values, err = g.p.take(c.d, s.nnz*16); err != nil {
		return err
	}
	s.known, g.c.nnz = true, s.nnz
	return nil
}

// gemmMemory is struct Work: a mark and a sum a column for each worker.
type gemmMemory struct {
	marks, sums uint64
	workers     int64
}

// gemmWork is memory for as many workers as 64 MB hold, at most 64.
func (c *call) gemmWork(columns, bytes int64) (w gemmMemory, err error) {
	w.workers = max(1, min(64, 64<<20/max(1, columns*(8+bytes))))
	s, err := c.scratches(w.workers*columns*8, w.workers*columns*bytes)
	if err != nil {
		return w, err
	}
	w.marks, w.sums = s[0], s[1]
	return w, nil
}

// workers runs a kernel whose threads are workers, a block each.
func (c *call) workers(name string, n int64, p *shim.Params) error {
	return sparseKernels.Launch(c.d, c.stream, name, [3]uint32{uint32(n), 1, 1}, [3]uint32{1, 1, 1}, p)
}

// fill computes columns and sums. Preconditions: the plan is locked.
func (c *call) fill(g *gemm) error {
	s := &g.p.gemm
	va, vb := g.a.stored(), g.b.stored()
	work, err := c.gemmWork(vb.others, 16)
	if err != nil {
		return err
	}
	p := vb.put(va.put(&shim.Params{})).U64(work.marks, work.sums, uint64(work.workers), s.offsets, s.columns, s.values)
	return c.workers(form("gemm_fill", g.e), work.workers, p)
}

// copyOut writes the product, or parts of it, where the caller wants it. Preconditions: the plan is locked.
func (c *call) copyOut(g *gemm, o entries, alpha, beta hostmem.Ptr) error {
	s := &g.p.gemm
	p := o.put((&shim.Params{}).U64(uint64(s.lines), s.offsets, s.columns, s.values)).U32(uint32(g.c.elem))
	for _, at := range []hostmem.Ptr{alpha, beta} {
		var v, err = c.scalar(at, g.e)
		if at == hostmem.Nil {
			v.Re, err = 0, nil
		}
		if err != nil {
			return err
		}
		v.Put(p)
	}
	return c.launch(sparseKernels, form("gemm_copy", g.e), max(s.nnz, s.lines+1), p)
}

// out is where the caller wants the product.
func (g *gemm) out() entries {
	return entries{offsets: g.c.offsets, indices: g.c.indices, values: g.c.values, wideOff: isWide(g.c.wideOff), wide: isWide(g.c.wide), base: uint32(g.c.base), elem: g.c.elem}
}

// gemmStep runs a step of a product with its plan locked.
func (t *Thread) gemmStep(h uint64, g *gemmArgs, f func(c *call, m *gemm) error) error {
	return t.work(h, func(c *call) error {
		m, err := g.check()
		if err != nil {
			return err
		}
		m.p.mu.Lock()
		defer m.p.mu.Unlock()
		return f(c, m)
	})
}

// SpGEMMWorkEstimation says how much memory the step wants, then takes it.
func (t *Thread) SpGEMMWorkEstimation(h uint64, opA, opB operation, alpha hostmem.Ptr, a, b uint64, beta hostmem.Ptr, y uint64, compute dataType, alg sparse.CusparseSpGEMMAlg_t, pl uint64, size, buffer hostmem.Ptr) error {
	g := gemmArgs{opA: opA, opB: opB, a: a, b: b, c: y, alg: alg, plan: pl, compute: compute, alpha: alpha, beta: beta}
	return t.gemmStep(h, &g, func(c *call, m *gemm) error {
		if ask, err := sizes(size, buffer); ask || err != nil {
			return err
		}
		return c.count(m)
	})
}

// SpGEMMGetNumProducts is the number of products of two elements.
func (t *Thread) SpGEMMGetNumProducts(pl uint64, to hostmem.Ptr) error {
	p, err := planOf(pl, planSpGEMM)
	if err != nil {
		return err
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	return store(to, p.gemm.products)
}

// SpGEMMEstimateMemory says how much memory the next step wants.
func (t *Thread) SpGEMMEstimateMemory(h uint64, opA, opB operation, alpha hostmem.Ptr, a, b uint64, beta hostmem.Ptr, y uint64, compute dataType, alg sparse.CusparseSpGEMMAlg_t, pl uint64, fraction float32, size3, buffer3, size2 hostmem.Ptr) error {
	g := gemmArgs{opA: opA, opB: opB, a: a, b: b, c: y, alg: alg, plan: pl, compute: compute, alpha: alpha, beta: beta}
	return t.gemmStep(h, &g, func(_ *call, _ *gemm) error {
		if alg != sparse.CUSPARSE_SPGEMM_ALG2 && alg != sparse.CUSPARSE_SPGEMM_ALG3 {
			return notSupported
		}
		if !(fraction > 0 && fraction <= 1) {
			return invalidValue
		}
		if ask, err := sizes(size3, buffer3); ask || err != nil {
			return err
		}
		return store(size2, uint64(16))
	})
}

// SpGEMMCompute computes the product.
func (t *Thread) SpGEMMCompute(h uint64, opA, opB operation, alpha hostmem.Ptr, a, b uint64, beta hostmem.Ptr, y uint64, compute dataType, alg sparse.CusparseSpGEMMAlg_t, pl uint64, size, buffer hostmem.Ptr) error {
	g := gemmArgs{opA: opA, opB: opB, a: a, b: b, c: y, alg: alg, plan: pl, compute: compute, alpha: alpha, beta: beta}
	return t.gemmStep(h, &g, func(c *call, m *gemm) error {
		if !m.p.gemm.known {
			return invalidValue
		}
		if ask, err := sizes(size, buffer); ask || err != nil {
			return err
		}
		return c.fill(m)
	})
}

// SpGEMMCopy writes it where the caller wants it.
func (t *Thread) SpGEMMCopy(h uint64, opA, opB operation, alpha hostmem.Ptr, a, b uint64, beta hostmem.Ptr, y uint64, compute dataType, alg sparse.CusparseSpGEMMAlg_t, pl uint64) error {
	g := gemmArgs{opA: opA, opB: opB, a: a, b: b, c: y, alg: alg, plan: pl, compute: compute, alpha: alpha, beta: beta}
	return t.gemmStep(h, &g, func(c *call, m *gemm) error {
		if !m.p.gemm.known {
			return invalidValue
		}
		return c.copyOut(m, m.out(), alpha, beta)
	})
}

// SpGEMMreuseWorkEstimation says how much memory the step wants, then takes it.
func (t *Thread) SpGEMMreuseWorkEstimation(h uint64, opA, opB operation, a, b, y uint64, alg sparse.CusparseSpGEMMAlg_t, pl uint64, size, buffer hostmem.Ptr) error {
	g := gemmArgs{opA: opA, opB: opB, a: a, b: b, c: y, alg: alg, plan: pl, symbolic: true}
	return t.gemmStep(h, &g, func(_ *call, m *gemm) error {
		if ask, err := sizes(size, buffer); ask || err != nil {
			return err
		}
		m.p.gemm.sized = true
		return nil
	})
}

// SpGEMMreuseNnz finds the entries of the product.
func (t *Thread) SpGEMMreuseNnz(h uint64, opA, opB operation, a, b, y uint64, alg sparse.CusparseSpGEMMAlg_t, pl uint64, size2, buffer2, size3, buffer3, size4, buffer4 hostmem.Ptr) error {
	g := gemmArgs{opA: opA, opB: opB, a: a, b: b, c: y, alg: alg, plan: pl, symbolic: true}
	return t.gemmStep(h, &g, func(c *call, m *gemm) error {
		if !m.p.gemm.sized {
			return invalidValue
		}
		asked := false
		for _, s := range [][2]hostmem.Ptr{{size2, buffer2}, {size3, buffer3}, {size4, buffer4}} {
			ask, err := sizes(s[0], s[1])
			if err != nil {
				return err
			}
			asked = asked || ask
		}
		if asked {
			return nil
		}
		return c.count(m)
	})
}

// SpGEMMreuseCopy writes offsets and columns where the caller wants them.
func (t *Thread) SpGEMMreuseCopy(h uint64, opA, opB operation, a, b, y uint64, alg sparse.CusparseSpGEMMAlg_t, pl uint64, size, buffer hostmem.Ptr) error {
	g := gemmArgs{opA: opA, opB: opB, a: a, b: b, c: y, alg: alg, plan: pl, symbolic: true}
	return t.gemmStep(h, &g, func(c *call, m *gemm) error {
		if !m.p.gemm.known {
			return invalidValue
		}
		if ask, err := sizes(size, buffer); ask || err != nil {
			return err
		}
		if err := c.fill(m); err != nil {
			return err
		}
		o := m.out()
		o.values = 0
		return c.copyOut(m, o, hostmem.Nil, hostmem.Nil)
	})
}

// SpGEMMreuseCompute computes the values, with the same entries each time.
func (t *Thread) SpGEMMreuseCompute(h uint64, opA, opB operation, alpha hostmem.Ptr, a, b uint64, beta hostmem.Ptr, y uint64, compute dataType, alg sparse.CusparseSpGEMMAlg_t, pl uint64) error {
	g := gemmArgs{opA: opA, opB: opB, a: a, b: b, c: y, alg: alg, plan: pl, compute: compute, alpha: alpha, beta: beta, reuse: true}
	return t.gemmStep(h, &g, func(c *call, m *gemm) error {
		if !m.p.gemm.known {
			return invalidValue
		}
		if err := c.fill(m); err != nil {
			return err
		}
		o := m.out()
		o.offsets, o.indices = 0, 0
		return c.copyOut(m, o, alpha, beta)
	})
}
