package cusparse

import (
	"bytes"
	"slices"

	"kudzu/internal/hostmem"
	"kudzu/internal/shim"
	"kudzu/internal/shim/cublas"
	"kudzu/internal/shim/lto"
	"kudzu/internal/spec/sparse"
)

// spmmOp is what a plan of SpMMOp is for: its operands are looked at by every execution.
type spmmOp struct {
	h       uint64
	opB     operation
	a, b, c uint64
	kernels *shim.Kernels
}

// operatorTypes are those of A and B, of C, and of the operators.
var operatorTypes = [][3]Elem{
	{cublas.F32, cublas.F32, cublas.F32}, {cublas.F64, cublas.F64, cublas.F64}, {cublas.C32, cublas.C32, cublas.C32}, {cublas.C64, cublas.C64, cublas.C64},
	{cublas.S8, cublas.S32, cublas.S32}, {cublas.S8, cublas.F32, cublas.F32},
	{cublas.F16, cublas.F32, cublas.F32}, {cublas.F16, cublas.F16, cublas.F32}, {cublas.BF16, cublas.F32, cublas.F32}, {cublas.BF16, cublas.BF16, cublas.F32},
}

// operands are the matrices of a product with operators.
func (s *spmmOp) operands() (m *sparseMatrix, b, c *denseMatrix, err error) {
	m, err1 := got(sparseMatrices, s.a)
	b, err2 := got(matrices, s.b)
	c, err3 := got(matrices, s.c)
	if err1 != nil || err2 != nil || err3 != nil || opBad(s.opB) {
		return nil, nil, nil, invalidValue
	}
	_, rows, cols := b.under(s.opB)
	if rows != m.cols || c.rows != m.rows || c.cols != cols {
		return nil, nil, nil, invalidValue
	}
	if m.format != sparse.CUSPARSE_FORMAT_CSR || m.marked || !m.usable() || m.wide != m.wideOff || m.batch > 1 || b.batch > 1 || c.batch > 1 ||
		s.opB == sparse.CUSPARSE_OPERATION_CONJUGATE_TRANSPOSE {
		return nil, nil, nil, notSupported
	}
	return m, b, c, nil
}

// SpMMOpCreatePlan compiles a product whose sums, products and last step are the program's functions, as LTO-IR.
func (t *Thread) SpMMOpCreatePlan(h uint64, opA, opB operation, a, b, c uint64, compute dataType, alg sparse.CusparseSpMMOpAlg_t,
	add hostmem.Ptr, addSize uint64, mul hostmem.Ptr, mulSize uint64, end hostmem.Ptr, endSize uint64, space hostmem.Ptr) (uint64, error) {
	if _, err := find(h); err != nil {
		return 0, invalidValue
	}
	var codes [3][]byte
	for i, at := range []hostmem.Ptr{add, mul, end} {
		size := []uint64{addSize, mulSize, endSize}[i]
		if at == hostmem.Nil || size == 0 {
			return 0, invalidValue
		}
		codes[i] = bytes.Clone(hostmem.Bytes(at, size))
	}
	if space == hostmem.Nil || alg != sparse.CUSPARSE_SPMM_OP_ALG_DEFAULT || opBad(opA) {
		return 0, invalidValue
	}
	s := spmmOp{h: h, opB: opB, a: a, b: b, c: c}
	m, mb, mc, err := s.operands()
	if err != nil {
		return 0, err
	}
	e, err := elemOf(compute)
	if err != nil {
		return 0, err
	}
	if opA != sparse.CUSPARSE_OPERATION_NON_TRANSPOSE || m.elem != mb.elem || !slices.Contains(operatorTypes, [3]Elem{m.elem, mc.elem, e}) {
		return 0, notSupported
	}
	text, err := lto.PTX("operators", codes[:]...)
	if err != nil {
		return 0, internalError // an H200's answer, as below
	}
	k := operatorKernel{in: m.elem, out: mc.elem, compute: e, wide: m.wide == sparse.CUSPARSE_INDEX_64I}
	for i, name := range []string{"add_op", "mul_op", "epilogue"} {
		if k.operators[i] = operatorOf(text, name, e); k.operators[i] == nil {
			return 0, internalError
		}
	}
	text += k.text()
	s.kernels = &shim.Kernels{Name: "cuSPARSE operators", Text: func() string { return text }}
	hostmem.Store(space, uint64(0))
	return given(plans.New(&plan{kind: planSpMMOp, spmm: s}))
}

// SpMMOpDestroyPlan ends it.
func (t *Thread) SpMMOpDestroyPlan(h uint64) error {
	p, err := planOf(h, planSpMMOp)
	if err != nil {
		return err
	}
	p.spmm.kernels.Discard()
	return t.endPlan(h, planSpMMOp)
}

// SpMMOp is a number of C from the entries of A's row and B's column. Where the row is empty it stays as it is.
func (t *Thread) SpMMOp(pl uint64, _ hostmem.Ptr) error {
	p, err := planOf(pl, planSpMMOp)
	if err != nil {
		return err
	}
	return t.work(p.spmm.h, func(c *call) error {
		m, mb, mc, err := p.spmm.operands()
		if err != nil {
			return err
		}
		if mc.rows == 0 || mc.cols == 0 || m.nnz == 0 {
			return nil
		}
		strides := func(x *denseMatrix) (row, col uint64) {
			size := uint64(x.elem.Size())
			if x.order == sparse.CUSPARSE_ORDER_ROW {
				return uint64(x.ld) * size, size
			}
			return size, uint64(x.ld) * size
		}
		bk, bj := strides(mb)
		if p.spmm.opB != sparse.CUSPARSE_OPERATION_NON_TRANSPOSE {
			bk, bj = bj, bk
		}
		ci, cj := strides(mc)
		total := uint64(mc.rows) * uint64(mc.cols)
		q := (&shim.Params{}).U64(m.offsets, m.indices, m.values, mb.values, mc.values, uint64(mc.cols), total, bk, bj, ci, cj, uint64(m.base))
		return p.spmm.kernels.Launch(c.d, c.stream, operatorName, [3]uint32{uint32(min((total+operatorThreads-1)/operatorThreads, operatorBlocks)), 1, 1},
			[3]uint32{operatorThreads, 1, 1}, q)
	})
}
