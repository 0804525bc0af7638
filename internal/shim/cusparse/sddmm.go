package cusparse

import (
	"slices"

	"kudzu/internal/hostmem"
	"kudzu/internal/shim"
	"kudzu/internal/spec/sparse"
)

// sddmmArgs are what SDDMM and its companions take.
type sddmmArgs struct {
	opA, opB    operation
	alpha, beta hostmem.Ptr
	a, b, c     uint64
	compute     dataType
	alg         sparse.CusparseSDDMMAlg_t
}

var sddmmOK = slices.Concat(uniform, []quad{{F16, F16, F16, F32}, {F16, F16, F32, F32}})

func (g *sddmmArgs) check() (a, b *denseMatrix, m *sparseMatrix, e Elem, err error) {
	a, err1 := got(matrices, g.a)
	b, err2 := got(matrices, g.b)
	m, err3 := got(sparseMatrices, g.c)
	if err1 != nil || err2 != nil || err3 != nil || g.alpha == hostmem.Nil || g.beta == hostmem.Nil || opBad(g.opA, g.opB) || g.alg != sparse.CUSPARSE_SDDMM_ALG_DEFAULT {
		return nil, nil, nil, 0, invalidValue
	}
	_, ra, ca := a.under(g.opA)
	_, rb, cb := b.under(g.opB)
	if ra != m.rows || cb != m.cols || ca != rb {
		return nil, nil, nil, 0, invalidValue
	}
	if e, err = elemOf(g.compute); err != nil {
		return nil, nil, nil, 0, err
	}
	if conjugates(g.opA, a.elem) || conjugates(g.opB, b.elem) {
		return nil, nil, nil, 0, invalidValue
	}
	if m.marked || ca%m.bm != 0 || m.format != sparse.CUSPARSE_FORMAT_CSR && m.format != sparse.CUSPARSE_FORMAT_BSR || !slices.Contains(sddmmOK, quad{a.elem, b.elem, m.elem, e}) {
		return nil, nil, nil, 0, notSupported
	}
	return a, b, m, e, nil
}

// SDDMM is C = alpha × op(A) × op(B) + beta × C where C has entries.
func (t *Thread) SDDMM(h uint64, opA, opB operation, alpha hostmem.Ptr, a, b uint64, beta hostmem.Ptr, y uint64, compute dataType, alg sparse.CusparseSDDMMAlg_t, _ hostmem.Ptr) error {
	return t.work(h, func(c *call) error {
		g := sddmmArgs{opA, opB, alpha, beta, a, b, y, compute, alg}
		ma, mb, m, e, err := g.check()
		if err != nil {
			return err
		}
		al, err := c.scalar(alpha, e)
		if err != nil {
			return err
		}
		be, err := c.scalar(beta, e)
		if err != nil {
			return err
		}
		for i := range max(m.batch, 1) {
			done, err := c.elsewhere(func() *Work {
				return &Work{Name: "sddmm", OpA: opA, OpB: opB, First: alpha, Second: beta, Sparse: m.nth(i).outside(), Dense: []*Dense{ma.nth(i).outside(), mb.nth(i).outside()}, Compute: compute}
			})
			if err != nil {
				return err
			}
			if done {
				continue
			}
			da, _, depth := ma.nth(i).under(opA)
			db, _, _ := mb.nth(i).under(opB)
			v := m.nth(i).stored()
			p := db.put(da.put(v.put(&shim.Params{})))
			al.Put(p)
			be.Put(p)
			p.U64(uint64(depth)).U32(flag(m.byColumns()))
			if err := c.launch(productKernels, form("sddmm", e), v.lines, p); err != nil {
				return err
			}
		}
		return nil
	})
}

// SDDMMBufferSize is nothing: no memory is needed.
func (t *Thread) SDDMMBufferSize(h uint64, opA, opB operation, alpha hostmem.Ptr, a, b uint64, beta hostmem.Ptr, y uint64, compute dataType, alg sparse.CusparseSDDMMAlg_t) (uint64, error) {
	if _, err := find(h); err != nil {
		return 0, err
	}
	g := sddmmArgs{opA, opB, alpha, beta, a, b, y, compute, alg}
	_, _, _, _, err := g.check()
	return 0, err
}

// SDDMMPreprocess has nothing to do.
func (t *Thread) SDDMMPreprocess(h uint64, opA, opB operation, alpha hostmem.Ptr, a, b uint64, beta hostmem.Ptr, y uint64, compute dataType, alg sparse.CusparseSDDMMAlg_t, _ hostmem.Ptr) error {
	_, err := t.SDDMMBufferSize(h, opA, opB, alpha, a, b, beta, y, compute, alg)
	return err
}
