package cublas

import (
	"kudzu/internal/hostmem"
	"kudzu/internal/shim"
	"kudzu/internal/spec/blas"
)

// cuBLAS's names for a triangle and a side.
type (
	Fill = blas.CublasFillMode_t
	Side = blas.CublasSideMode_t
)

func validFill(f Fill) bool {
	return f == blas.CUBLAS_FILL_MODE_LOWER || f == blas.CUBLAS_FILL_MODE_UPPER
}
func validSide(s Side) bool { return s == blas.CUBLAS_SIDE_LEFT || s == blas.CUBLAS_SIDE_RIGHT }

// syrk is a product of which one triangle is written. Hermitian: the conjugate transpose, real scalars.
func (t *Thread) syrk(h blas.CublasHandle_t, fill Fill, op Op, n, k int64, alpha, beta hostmem.Ptr, o operands, e Elem, hermitian bool) error {
	j, err := t.job(h)
	if err != nil {
		return err
	}
	p, err := rankK(fill, op, n, k, o, e, hermitian)
	if err != nil || n == 0 {
		return err
	}
	scalar := e
	if hermitian {
		scalar = e.real()
	}
	return j.product(p, alpha, beta, scalar, scalar)
}

// rankK is the product of syrk and of the halves of syr2k.
func rankK(fill Fill, op Op, n, k int64, o operands, e Elem, hermitian bool) (*Product, error) {
	if !validFill(fill) || !validOp(op) || (hermitian && op == blas.CUBLAS_OP_T) || (!hermitian && op == blas.CUBLAS_OP_C && e.real() != e) {
		return nil, invalidValue
	}
	p := &Product{M: n, N: n, K: k, Batch: 1, TA: e, TC: e, Sum: e, Part: PartLower, Real: hermitian,
		A: View{Base: uint64(o.a), LD: o.lda}, B: View{Base: uint64(o.b), LD: o.ldb}, C: View{Base: uint64(o.c), LD: o.ldc}}
	if fill == blas.CUBLAS_FILL_MODE_UPPER {
		p.Part = PartUpper
	}
	other := blas.CublasOperation_t(blas.CUBLAS_OP_T)
	if hermitian {
		other = blas.CUBLAS_OP_C
	}
	if op == blas.CUBLAS_OP_N {
		p.A.Op, p.B.Op = blas.CUBLAS_OP_N, other
	} else {
		p.A.Op, p.B.Op = other, blas.CUBLAS_OP_N
	}
	return p, p.Check()
}

// product reads the scalars, of the types given, and runs.
func (j *job) product(p *Product, alpha, beta hostmem.Ptr, ofAlpha, ofBeta Elem) (err error) {
	if p.Alpha, err = ScalarAt(alpha, ofAlpha, j.mode); err != nil {
		return err
	}
	if p.Beta, err = ScalarAt(beta, ofBeta, j.mode); err != nil {
		return err
	}
	return p.Run(j.d, j.stream, &j.x.space)
}

// symm is a product whose A is read from one triangle as it is packed.
func (t *Thread) symm(h blas.CublasHandle_t, side Side, fill Fill, m, n int64, alpha, beta hostmem.Ptr, o operands, e Elem, hermitian bool) error {
	j, err := t.job(h)
	if err != nil {
		return err
	}
	rows := m
	if side == blas.CUBLAS_SIDE_RIGHT {
		rows = n
	}
	if !validSide(side) || !validFill(fill) || m < 0 || n < 0 || o.lda < max(1, rows) || o.ldb < max(1, m) || o.ldc < max(1, m) {
		return invalidValue
	}
	if m >= maxSide || n >= maxSide {
		return notSupported
	}
	if m == 0 || n == 0 {
		return nil
	}
	how := opLower
	if fill == blas.CUBLAS_FILL_MODE_UPPER {
		how = opUpper
	}
	if hermitian {
		how += opHermitian
	}
	sym := View{Base: uint64(o.a), LD: o.lda, Op: how}
	b := View{Base: uint64(o.b), LD: o.ldb}
	p := &Product{M: m, N: n, K: rows, Batch: 1, TA: e, TC: e, Sum: e, A: sym, B: b, C: View{Base: uint64(o.c), LD: o.ldc}}
	if side == blas.CUBLAS_SIDE_RIGHT {
		p.A, p.B = b, sym
	}
	return j.product(p, alpha, beta, e, e)
}

func (t *Thread) geam(h blas.CublasHandle_t, ta, tb Op, m, n int64, alpha, beta hostmem.Ptr, o operands, e Elem) error {
	j, err := t.job(h)
	if err != nil {
		return err
	}
	rows := func(op Op) int64 {
		if op == blas.CUBLAS_OP_N {
			return m
		}
		return n
	}
	if m < 0 || n < 0 || !validOp(ta) || !validOp(tb) || o.lda < max(1, rows(ta)) || o.ldb < max(1, rows(tb)) || o.ldc < max(1, m) {
		return invalidValue
	}
	// In place only as it lies: another element's source would be written first.
	if (o.c == o.a && (ta != blas.CUBLAS_OP_N || o.lda != o.ldc)) || (o.c == o.b && (tb != blas.CUBLAS_OP_N || o.ldb != o.ldc)) {
		return invalidValue
	}
	if m >= maxSide || n >= maxSide {
		return notSupported
	}
	if m == 0 || n == 0 {
		return nil
	}
	sa, err := ScalarAt(alpha, e, j.mode)
	if err != nil {
		return err
	}
	sb, err := ScalarAt(beta, e, j.mode)
	if err != nil {
		return err
	}
	columns := func(v View, first int64) View {
		if v.Op == blas.CUBLAS_OP_N {
			return v.From(0, first, e)
		}
		v.Base += uint64(first) * uint64(e.Size())
		return v
	}
	a, b := View{Base: uint64(o.a), LD: o.lda, Op: ta}, View{Base: uint64(o.b), LD: o.ldb, Op: tb}
	run := func() error { return j.geam(a, b, columns, sa, sb, m, n, o, e) }
	return j.checked(func() *Sum { return geamSums(a, b, View{Base: uint64(o.c), LD: o.ldc}, sa, sb, m, n, e) }, run)
}

// geam puts the kernels in.
func (j *job) geam(a, b View, columns func(v View, first int64) View, sa, sb Scalar, m, n int64, o operands, e Elem) error {
	return inColumns(n, func(first, count int64) error {
		var q shim.Params
		columns(a, first).Put(&q)
		columns(b, first).Put(&q)
		View{Base: uint64(o.c), LD: o.ldc}.From(0, first, e).Put(&q)
		sa.Put(&q)
		sb.Put(&q)
		q.U32(uint32(m), uint32(count))
		return level3Kernels.Launch(j.d, j.stream, "geam_"+e.String(), sheet(m, count), [3]uint32{32, 1, 1}, &q)
	})
}

func (t *Thread) dgmm(h blas.CublasHandle_t, side Side, m, n int64, o operands, e Elem) error {
	j, err := t.job(h)
	if err != nil {
		return err
	}
	if !validSide(side) || m < 0 || n < 0 || o.lda < max(1, m) || o.ldc < max(1, m) {
		return invalidValue
	}
	if m >= maxSide || n >= maxSide {
		return notSupported
	}
	length, left := n, uint32(0)
	if side == blas.CUBLAS_SIDE_LEFT {
		length, left = m, 1
	}
	x := vectorAt(o.b, length, o.ldb, e)
	if m == 0 || n == 0 {
		return nil
	}
	run := func() error { return j.dgmm(x, left, m, n, o, e) }
	return j.checked(func() *Sum {
		return dgmmSums(x, left == 1, View{Base: uint64(o.a), LD: o.lda}, View{Base: uint64(o.c), LD: o.ldc}, m, n, e)
	}, run)
}

// dgmm puts the kernels in.
func (j *job) dgmm(x vector, left uint32, m, n int64, o operands, e Elem) error {
	return inColumns(n, func(first, count int64) error {
		v := x
		if left == 0 {
			v = x.from(first, e)
		}
		var q shim.Params
		View{Base: uint64(o.a), LD: o.lda}.From(0, first, e).Put(&q)
		v.put(&q)
		View{Base: uint64(o.c), LD: o.ldc}.From(0, first, e).Put(&q)
		q.U32(uint32(m), uint32(count), left)
		return level3Kernels.Launch(j.d, j.stream, "dgmm_"+e.String(), sheet(m, count), [3]uint32{32, 1, 1}, &q)
	})
}
