package cusparse

import (
	"kudzu/internal/driver"
	"kudzu/internal/hostmem"
	"kudzu/internal/spec/sparse"
)

// spmvOp is what a description or a plan of SpMVOp is for.
type spmvOp struct {
	op      operation
	a       uint64
	compute dataType
}

// opOperands checks x, y and z of Z = alpha op(A) X + beta Y: by rows and not transposed, y as z.
func (g *spmvOp) opOperands(x, y, z uint64) (vy, vz *denseVector, err error) {
	m, err1 := got(sparseMatrices, g.a)
	vy, err2 := got(vectors, y)
	vz, err3 := got(vectors, z)
	if err1 != nil || err2 != nil || err3 != nil || opBad(g.op) || vy.size != vz.size {
		return nil, nil, invalidValue
	}
	if m.format != sparse.CUSPARSE_FORMAT_CSR || g.op != sparse.CUSPARSE_OPERATION_NON_TRANSPOSE || vy.elem != vz.elem {
		return nil, nil, notSupported
	}
	scalar := float64(0)
	s := spmvArgs{g.op, hostmem.Of(&scalar), hostmem.Of(&scalar), g.a, x, z, g.compute, sparse.CUSPARSE_SPMV_ALG_DEFAULT}
	_, _, _, _, err = s.check()
	return vy, vz, err
}

func opAlgBad(a sparse.CusparseSpMVOpAlg_t) bool {
	return a < sparse.CUSPARSE_SPMVOP_ALG_DEFAULT || a > sparse.CUSPARSE_SPMVOP_ALG2
}

// SpMVOpBufferSize is nothing: the handle has the memory.
func (t *Thread) SpMVOpBufferSize(h uint64, op operation, a, x, y, z uint64, compute dataType, alg sparse.CusparseSpMVOpAlg_t) (uint64, error) {
	if _, err := find(h); err != nil {
		return 0, err
	}
	if opAlgBad(alg) {
		return 0, invalidValue
	}
	_, _, err := (&spmvOp{op, a, compute}).opOperands(x, y, z)
	return 0, err
}

// SpMVOpCreateDescr describes products with a matrix.
func (t *Thread) SpMVOpCreateDescr(h uint64, op operation, a, x, y, z uint64, compute dataType, alg sparse.CusparseSpMVOpAlg_t, _ hostmem.Ptr) (uint64, error) {
	if _, err := t.SpMVOpBufferSize(h, op, a, x, y, z, compute, alg); err != nil {
		return 0, err
	}
	return given(plans.New(&plan{kind: planSpMVOpDescr, spmv: spmvOp{op, a, compute}}))
}

// SpMVOpDestroyDescr ends it; plans that were made with it go on.
func (t *Thread) SpMVOpDestroyDescr(h uint64) error { return t.endPlan(h, planSpMVOpDescr) }

// SpMVOpCreatePlan makes a plan. What a program would do to the results, as LTO-IR, is not done: NVIDIA says not how its function is called.
func (t *Thread) SpMVOpCreatePlan(h, desc uint64, code hostmem.Ptr, size uint64) (uint64, error) {
	if _, err := find(h); err != nil {
		return 0, err
	}
	p, err := planOf(desc, planSpMVOpDescr)
	if err != nil {
		return 0, err
	}
	if code != hostmem.Nil || size != 0 {
		return 0, notSupported
	}
	return given(plans.New(&plan{kind: planSpMVOp, spmv: p.spmv}))
}

// SpMVOpDestroyPlan ends it.
func (t *Thread) SpMVOpDestroyPlan(h uint64) error { return t.endPlan(h, planSpMVOp) }

// SpMVOp is z = alpha × A × x + beta × y.
func (t *Thread) SpMVOp(h, pl uint64, alpha, beta hostmem.Ptr, x, y, z uint64) error {
	p, err := planOf(pl, planSpMVOp)
	if err != nil {
		return err
	}
	g := p.spmv
	if err := t.work(h, func(c *call) error {
		vy, vz, err := g.opOperands(x, y, z)
		if err != nil {
			return err
		}
		if alpha == hostmem.Nil || beta == hostmem.Nil {
			return invalidValue
		}
		if vy.values == vz.values || vy.size == 0 {
			return nil
		}
		return c.d.MemcpyDtoDAsync(driver.DevPtr(vz.values), driver.DevPtr(vy.values), uint64(vy.size)*uint64(vy.elem.Size()), c.stream)
	}); err != nil {
		return err
	}
	return t.SpMV(h, g.op, alpha, g.a, x, beta, z, g.compute, sparse.CUSPARSE_SPMV_ALG_DEFAULT, hostmem.Nil)
}
