package cusparse

import (
	"kudzu/internal/hostmem"
	"kudzu/internal/shim"
	"kudzu/internal/shim/cublas"
	"kudzu/internal/spec/sparse"
)

// sum is alpha × A + beta × B.
type sum struct {
	a, b        *view
	alpha, beta cublas.Scalar
	e           Elem
}

// geam counts the entries, or writes them.
func (c *call) geam(s *sum, counts uint64, o entries) error {
	p := o.put(s.b.put(s.a.put(&shim.Params{})).U64(counts)).U32(uint32(s.e))
	s.alpha.Put(p)
	s.beta.Put(p)
	return c.launch(sparseKernels, form("geam", s.e), s.a.lines, p)
}

// geamCount makes the offsets, and gives where the number of entries is.
func (c *call) geamCount(s *sum, offsets uint64, wide, base uint32) (uint64, error) {
	counts, err := c.scratch(s.a.lines * 8)
	if err != nil {
		return 0, err
	}
	if err := c.geam(s, counts, entries{elem: s.e}); err != nil {
		return 0, err
	}
	return c.scan(counts, s.a.lines, offsets, wide, base)
}

// Csrgeam2BufferSizeExt says how much memory is wanted.
func (t *Thread) Csrgeam2BufferSizeExt(h uint64, m, n int32, _ hostmem.Ptr, _ uint64, nnzA int32, _, _, _, _ hostmem.Ptr, _ uint64, nnzB int32, _, _, _ hostmem.Ptr, _ uint64, _, _, _ hostmem.Ptr, _ Elem) (uint64, error) {
	return 16, t.sizeOf(h, m, n, nnzA, nnzB)
}

// Xcsrgeam2Nnz makes the offsets of the sum, and answers how many entries it has.
func (t *Thread) Xcsrgeam2Nnz(h uint64, m, n int32, descrA uint64, nnzA int32, offsetsA, indicesA hostmem.Ptr, descrB uint64, nnzB int32, offsetsB, indicesB hostmem.Ptr, descrC uint64, offsets, total, _ hostmem.Ptr) error {
	return t.older(h, func(c *call) error {
		a, err1 := described(descrA)
		b, err2 := described(descrB)
		d, err3 := described(descrC)
		if err1 != nil || err2 != nil || err3 != nil || m < 0 || n < 0 || nnzA < 0 || nnzB < 0 {
			return invalidValue
		}
		s := &sum{a: linesOf(m, n, nnzA, a, hostmem.Nil, offsetsA, indicesA, F32), b: linesOf(m, n, nnzB, b, hostmem.Nil, offsetsB, indicesB, F32), e: F32}
		at, err := c.geamCount(s, uint64(offsets), 0, uint32(d.Base))
		if err != nil {
			return err
		}
		return c.answer(at, total)
	})
}

// Csrgeam2 writes the sum.
func (t *Thread) Csrgeam2(h uint64, m, n int32, alpha hostmem.Ptr, descrA uint64, nnzA int32, valuesA, offsetsA, indicesA, beta hostmem.Ptr, descrB uint64, nnzB int32, valuesB, offsetsB, indicesB hostmem.Ptr, descrC uint64, values, offsets, indices, _ hostmem.Ptr, e Elem) error {
	return t.older(h, func(c *call) (err error) {
		a, err1 := described(descrA)
		b, err2 := described(descrB)
		d, err3 := described(descrC)
		if err1 != nil || err2 != nil || err3 != nil || m < 0 || n < 0 || nnzA < 0 || nnzB < 0 {
			return invalidValue
		}
		s := &sum{a: linesOf(m, n, nnzA, a, valuesA, offsetsA, indicesA, e), b: linesOf(m, n, nnzB, b, valuesB, offsetsB, indicesB, e), e: e}
		if s.alpha, err = c.scalar(alpha, e); err != nil {
			return err
		}
		if s.beta, err = c.scalar(beta, e); err != nil {
			return err
		}
		return c.geam(s, 0, entries{offsets: uint64(offsets), indices: uint64(indices), values: uint64(values), base: uint32(d.Base), elem: e})
	})
}

// Csrcolor gives each row a colour that none of its neighbours has.
func (t *Thread) Csrcolor(h uint64, m, nnz int32, descr uint64, values, offsets, indices, fraction, colors, coloring, order hostmem.Ptr, info uint64, e Elem) error {
	return t.older(h, func(c *call) error {
		d, err := described(descr)
		_, err2 := planOf(info, planColor)
		if err != nil || err2 != nil || m < 0 || nnz < 0 || fraction == hostmem.Nil || colors == hostmem.Nil || m > 0 && coloring == hostmem.Nil {
			return invalidValue
		}
		s, err := c.scratches(8, int64(m)*8+8)
		if err != nil {
			return err
		}
		v := linesOf(m, m, nnz, d, values, offsets, indices, e)
		if err := c.single(sparseKernels, "color", v.put(&shim.Params{}).U64(uint64(coloring), uint64(order), s[0], s[1])); err != nil {
			return err
		}
		return c.answer(s[0], colors)
	})
}

// geamArgs are what SpGEAM's steps take, the sum of two matrices of the generic interface. It is new in CUDA 13.1.
type geamArgs struct {
	opA, opB    operation
	alpha, beta hostmem.Ptr
	a, b, c     uint64
	compute     dataType
	plan        uint64
}

func (c *call) spgeam(g *geamArgs) (*sum, *sparseMatrix, error) {
	a, err1 := got(sparseMatrices, g.a)
	b, err2 := got(sparseMatrices, g.b)
	m, err3 := got(sparseMatrices, g.c)
	_, err4 := planOf(g.plan, planSpGEAM)
	if err1 != nil || err2 != nil || err3 != nil || err4 != nil || a.rows != b.rows || a.cols != b.cols || m.rows != a.rows || m.cols != a.cols {
		return nil, nil, invalidValue
	}
	e, err := elemOf(g.compute)
	if err != nil {
		return nil, nil, err
	}
	csr, plain := sparse.CUSPARSE_FORMAT_CSR, sparse.CUSPARSE_OPERATION_NON_TRANSPOSE
	if a.format != csr || b.format != csr || m.format != csr || g.opA != plain || g.opB != plain || a.elem != e || b.elem != e || m.elem != e || e > C64 || e == F16 || e == BF16 {
		return nil, nil, notSupported
	}
	s := &sum{a: a.stored(), b: b.stored(), e: e}
	if s.alpha, err = c.scalar(g.alpha, e); err != nil {
		return nil, nil, err
	}
	s.beta, err = c.scalar(g.beta, e)
	return s, m, err
}

// SpGEAMBufferSize says how much memory is wanted.
func (t *Thread) SpGEAMBufferSize(h uint64, opA, opB operation, alpha hostmem.Ptr, a uint64, beta hostmem.Ptr, b, y uint64, compute dataType, _ sparse.CusparseSpGEAMAlg_t, pl uint64) (uint64, error) {
	return 16, t.work(h, func(c *call) error {
		_, _, err := c.spgeam(&geamArgs{opA, opB, alpha, beta, a, b, y, compute, pl})
		return err
	})
}

// SpGEAMNnz makes the offsets of the sum; its description says how many entries there are.
func (t *Thread) SpGEAMNnz(h uint64, opA, opB operation, alpha hostmem.Ptr, a uint64, beta hostmem.Ptr, b, y uint64, compute dataType, _ sparse.CusparseSpGEAMAlg_t, pl uint64, _ hostmem.Ptr) error {
	return t.work(h, func(c *call) error {
		s, m, err := c.spgeam(&geamArgs{opA, opB, alpha, beta, a, b, y, compute, pl})
		if err != nil {
			return err
		}
		at, err := c.geamCount(s, m.offsets, isWide(m.wideOff), uint32(m.base))
		if err != nil {
			return err
		}
		m.nnz, err = c.read(at)
		return err
	})
}

// SpGEAM writes the sum.
func (t *Thread) SpGEAM(h uint64, opA, opB operation, alpha hostmem.Ptr, a uint64, beta hostmem.Ptr, b, y uint64, compute dataType, _ sparse.CusparseSpGEAMAlg_t, pl uint64, _ hostmem.Ptr) error {
	return t.work(h, func(c *call) error {
		s, m, err := c.spgeam(&geamArgs{opA, opB, alpha, beta, a, b, y, compute, pl})
		if err != nil {
			return err
		}
		return c.geam(s, 0, entries{offsets: m.offsets, indices: m.indices, values: m.values, wideOff: isWide(m.wideOff), wide: isWide(m.wide), base: uint32(m.base), elem: m.elem})
	})
}
